"""Removal of edges of a root run that turned out not to be its edges."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, text

_EDGE: Final = """
    upstream_key = :upstream_key AND downstream_key = :downstream_key AND job_key = :job_key
"""
_OF_RUNS = """
    FROM edge_run x WHERE x.upstream_key = edge.upstream_key
    AND x.downstream_key = edge.downstream_key AND x.job_key = edge.job_key
"""
_REMOVE = tuple(
    text(statement)
    for statement in (
        f"DELETE FROM edge_run WHERE {_EDGE} AND root_run_id = :root_run_id",  # noqa: S608
        f"UPDATE edge SET runs = runs - 1 WHERE {_EDGE}",  # noqa: S608
        f"DELETE FROM edge WHERE {_EDGE} AND runs = 0 AND declared_at IS NULL",  # noqa: S608
    )
)
# Runs of months ago are pruned from `edge_run`: an edge that has no others keeps its times.
_RENEW = tuple(
    text(statement)
    for statement in (
        f"""
        UPDATE edge SET
            last_seen_at = coalesce((SELECT max(x.seen_at) {_OF_RUNS}),
                CASE WHEN runs = 0 THEN declared_at END, last_seen_at),
            last_reported_at = coalesce((SELECT max(x.seen_at) {_OF_RUNS} AND x.is_reported),
                CASE WHEN runs > 0 THEN last_reported_at END),
            origin = CASE WHEN runs > 0 THEN origin END
        WHERE {_EDGE}
        """,  # noqa: S608 - our own tables
        f"UPDATE edge SET last_seen_at = declared_at WHERE {_EDGE} AND declared_at > last_seen_at",  # noqa: S608
    )
)


def remove_edges(connection: Connection, edges: Sequence[Mapping[str, Any]]) -> None:
    """Remove these edges of root runs; an edge that nothing else reports is gone.

    Args:
        connection: inside a transaction.
        edges: the key of `edge_run` of each, each once.
    """
    for statement in _REMOVE if edges else ():
        connection.execute(statement, edges)
    renew_times(connection, edges)


def renew_times(connection: Connection, edges: Sequence[Mapping[str, Any]]) -> None:
    """Give edges the times of their runs and of what declares them.

    Args:
        connection: inside a transaction.
        edges: the key of `edge` of each.
    """
    for statement in _RENEW if edges else ():
        connection.execute(statement, edges)
