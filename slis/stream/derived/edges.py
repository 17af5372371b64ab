"""Edges: what a root run read and what it wrote of that, counted once a root run."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, not_, null, or_, text

from lineage.catalog import tables
from lineage.catalog.new_rows import insert_or_fold
from lineage.catalog.upsert import ColumnFold, add_up, either, greatest, least, upsert
from slis.stream.derived.connectors import store_pairs
from slis.stream.merge.known_roots import IS_KNOWN

_OUTPUT = """
    o.dataset_key AS downstream_key, o.root_run_id, o.job_namespace, o.job_name, o.event_job_name,
    o.first_event_at, o.last_event_at
"""
_OF_OUTPUT = "o.direction = 'write' AND o.is_schema_change = 0 AND o.is_wide = 0"
# Each input of a run with each output (of connectors: those that belong together), and the sources
# that are inferred for an output.
_OF_ALL = f"""
    SELECT {_OUTPUT}, i.dataset_key AS upstream_key, CAST(NULL AS TEXT) AS origin,
        CASE WHEN i.is_reported = 1 AND o.is_reported = 1 THEN 1 ELSE 0 END AS is_reported
    FROM t_touched o JOIN t_touched i ON i.run_key = o.run_key AND i.direction = 'read'
    WHERE {_OF_OUTPUT} AND {{chosen}}
"""  # noqa: S608 - our own tables
_OF_PAIRS = f"""
    SELECT {_OUTPUT}, i.dataset_key AS upstream_key, CAST(NULL AS TEXT) AS origin,
        CASE WHEN i.is_reported = 1 AND o.is_reported = 1 THEN 1 ELSE 0 END AS is_reported
    FROM t_pair p
    JOIN t_touched o ON o.run_key = p.run_key AND o.dataset_key = p.downstream_key
    JOIN t_touched i ON i.run_key = p.run_key AND i.dataset_key = p.upstream_key
        AND i.direction = 'read'
    WHERE {_OF_OUTPUT}
"""  # noqa: S608 - our own tables
_OF_SOURCES = f"""
    SELECT {_OUTPUT}, n.upstream_key, n.origin, o.is_reported
    FROM t_inferred n
    JOIN t_touched o ON o.run_key = n.run_key AND o.dataset_key = n.downstream_key
    WHERE {_OF_OUTPUT}
"""  # noqa: S608 - our own tables
# Few batches have runs of connectors.
_WITHOUT_PAIRS = f"{_OF_ALL.format(chosen='1 = 1')} UNION ALL {_OF_SOURCES}"
_OF_OTHERS = _OF_ALL.format(chosen="o.run_key NOT IN (SELECT run_key FROM t_pair)")
_WITH_PAIRS = f"{_OF_OTHERS} UNION ALL {_OF_PAIRS} UNION ALL {_OF_SOURCES}"
_ORIGIN = """
    CASE WHEN max(CASE WHEN origin IS NULL THEN is_reported ELSE 0 END) = 0 THEN min(origin) END
"""
_EDGES = f"""
    INSERT INTO t_new_edge (upstream_key, downstream_key, job_key, root_run_id, job_namespace,
        job_name, event_job_name,
        first_seen_at, last_seen_at, is_reported, origin, is_new)
    SELECT p.upstream_key, p.downstream_key, j.job_key, p.root_run_id, p.job_namespace, p.job_name,
        max(p.event_job_name), min(p.first_event_at), max(p.last_event_at), max(p.is_reported),
        {_ORIGIN},
        CASE WHEN p.{IS_KNOWN} AND EXISTS (
            SELECT 1 FROM edge_run e WHERE e.upstream_key = p.upstream_key
            AND e.downstream_key = p.downstream_key AND e.job_key = j.job_key
            AND e.root_run_id = p.root_run_id)
        THEN 0 ELSE 1 END
    FROM ({{pairs}}) AS p JOIN t_job j ON j.job_namespace = p.job_namespace
        AND j.job_name = p.job_name AND j.dataset_key = p.downstream_key
    GROUP BY p.upstream_key, p.downstream_key, j.job_key, p.root_run_id, p.job_namespace, p.job_name
"""  # noqa: S608 - our own tables


def _by_inputs(is_reported: Callable[[Any], ColumnElement[bool]]) -> ColumnFold:
    """Return the fold of `origin`: null as soon as a run names the edge by its inputs.

    Args:
        is_reported: whether an event reports the edge, by row.
    """

    def fold(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401 - columns
        return case(
            (not_(is_reported(given.table.c)), kept),
            (not_(is_reported(kept.table.c)), given),
            (or_(kept.is_(None), given.is_(None)), null()),
            else_=least(kept, given),
        )

    return fold


ORIGIN_OF_RUN = _by_inputs(lambda row: row.is_reported)
ORIGIN = _by_inputs(lambda row: row.last_reported_at.is_not(None))
_EDGE_FOLDS: dict[str, ColumnFold] = {
    "event_job_name": greatest,  # whatever the order of batches
    "first_seen_at": least,
    "last_seen_at": greatest,
    "runs": add_up,
    "last_reported_at": greatest,
    "declared_at": greatest,
    "origin": ORIGIN,
}

_ANY_KNOWN = text("SELECT 1 FROM t_new_edge WHERE is_new = 0 LIMIT 1")


def derive_edges(connection: Connection) -> None:
    """Update `edge` and `edge_run`."""
    pairs = _WITH_PAIRS if store_pairs(connection) else _WITHOUT_PAIRS
    connection.execute(text(_EDGES.format(pairs=pairs)))
    insert_or_fold(
        connection,
        tables.edge_run,
        """
        SELECT upstream_key, downstream_key, job_key, root_run_id, last_seen_at AS seen_at,
            is_reported = 1 AS is_reported, origin
        FROM t_new_edge WHERE {chosen}
        """,
        {"seen_at": greatest, "is_reported": either, "origin": ORIGIN_OF_RUN},
        known="is_new = 0",
        is_any_known=connection.execute(_ANY_KNOWN).first() is not None,
    )
    upsert(
        connection,
        tables.edge,
        f"""
        SELECT upstream_key, downstream_key, job_key, max(job_namespace) AS job_namespace,
            max(job_name) AS job_name, max(event_job_name) AS event_job_name,
            min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at,
            sum(is_new) AS runs,
            max(CASE WHEN is_reported = 1 THEN last_seen_at END) AS last_reported_at,
            CAST(NULL AS BIGINT) AS declared_at, {_ORIGIN} AS origin
        FROM t_new_edge GROUP BY upstream_key, downstream_key, job_key
        """,  # noqa: S608 - our own tables
        _EDGE_FOLDS,
        keeps="job_namespace job_name",
    )
    _declare_edges(connection)


def _declare_edges(connection: Connection) -> None:
    """Store edges that a JobEvent declares: none of its runs has named them yet."""
    upsert(
        connection,
        tables.edge,
        """
        SELECT du.canonical_key AS upstream_key, dd.canonical_key AS downstream_key, j.job_key,
            max(e.job_namespace) AS job_namespace, max(e.job_name) AS job_name,
            CAST(NULL AS TEXT) AS event_job_name, min(e.first_seen_at) AS first_seen_at,
            max(e.last_seen_at) AS last_seen_at, 0 AS runs,
            CAST(NULL AS BIGINT) AS last_reported_at, max(e.last_seen_at) AS declared_at,
            CAST(NULL AS TEXT) AS origin
        FROM s_declared_edge e
        JOIN s_name nu ON nu.spelling_key = e.upstream_spelling_key
        JOIN dataset du ON du.dataset_key = nu.dataset_key
        JOIN s_name nd ON nd.spelling_key = e.downstream_spelling_key
        JOIN dataset dd ON dd.dataset_key = nd.dataset_key
        JOIN t_job j ON j.job_namespace = e.job_namespace AND j.job_name = e.job_name
            AND j.dataset_key = dd.canonical_key
        GROUP BY du.canonical_key, dd.canonical_key, j.job_key
        """,
        _EDGE_FOLDS,
        keeps="job_namespace job_name",
    )
