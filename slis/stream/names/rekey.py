"""Move of a dataset's rows to another key: its name turned out to be an alias."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Table, TextClause, bindparam, func, text

from lineage.catalog import tables
from lineage.catalog.queries import NO_TIER, NOT_JUDGED
from lineage.catalog.upsert import ColumnFold, both, either, greatest, least, prepare
from slis.key_queries import in_parts
from slis.stream.derived.activity import renew_last_write
from slis.stream.derived.edges import ORIGIN, ORIGIN_OF_RUN
from slis.stream.derived.failed_runs import FAILURE_FOLDS
from slis.stream.derived.writes import WRITE_FOLDS
from slis.stream.facets.assertions import ASSERTION_FOLDS
from slis.stream.facets.column_edges import COLUMN_EDGE_FOLDS
from slis.stream.facets.descriptions import DESCRIPTION_FOLDS, FIELD_TAG_FOLDS, TAG_FOLDS
from slis.stream.facets.facet_rows import job_key


def _known(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    return func.coalesce(kept, given)


_SEEN: dict[str, ColumnFold] = {"first_seen_at": least, "last_seen_at": greatest}
_JOB: dict[str, ColumnFold] = {"job_namespace": greatest, "job_name": greatest}
_EDGE: dict[str, ColumnFold] = {
    **_SEEN,
    "event_job_name": greatest,
    "runs": greatest,
    "last_reported_at": greatest,
    "declared_at": greatest,
    "origin": ORIGIN,
}
_SEEN_IN_RUN: dict[str, ColumnFold] = {
    "seen_at": greatest,
    "is_reported": either,
    "origin": ORIGIN_OF_RUN,
}
# What the merge folds by the canonical key, and how.
_MOVED: tuple[tuple[Table, str, dict[str, ColumnFold]], ...] = (
    (tables.dataset_write, "dataset_key", WRITE_FOLDS),
    (
        tables.dataset_read,
        "dataset_key",
        {
            **_JOB,
            "read_at": least,
            "landed_at": least,
            "is_reported": either,
            "is_streaming": either,
            "is_history": both,
            # A read that was counted under its other name is not counted again.
            "counted_at": _known,
            "outcome": _known,
        },
    ),
    (tables.schema_version, "dataset_key", {**_SEEN, "fields": greatest}),
    (tables.dataset_version, "dataset_key", _SEEN),
    (tables.dataset_checksum, "dataset_key", _SEEN),
    (tables.dataset_assertion, "dataset_key", ASSERTION_FOLDS),
    (tables.tag, "dataset_key", TAG_FOLDS),
    (tables.field_tag, "dataset_key", FIELD_TAG_FOLDS),
    (tables.description, "subject_key", DESCRIPTION_FOLDS),
    (tables.ownership, "subject_key", {"type": greatest, "last_seen_at": greatest}),
    (tables.column_edge, "upstream_key", COLUMN_EDGE_FOLDS),
    (tables.column_edge, "downstream_key", COLUMN_EDGE_FOLDS),
    (tables.edge_run, "upstream_key", _SEEN_IN_RUN),
    (tables.edge, "upstream_key", {**_JOB, **_EDGE}),
    (tables.edge_run, "downstream_key", _SEEN_IN_RUN),
    (tables.edge, "downstream_key", {**_JOB, **_EDGE}),
    (
        tables.dataset_activity,
        "dataset_key",
        {
            "last_read_at": greatest,
            "first_read_at": least,
            **FAILURE_FOLDS,
            "last_dropped_at": greatest,
            "last_started_at": greatest,
            "writes": greatest,
            "learned_writes": least,
        },
    ),
)
# An evaluation computes these again under the key that is left.
_UNRANKED = f"""
    UPDATE dataset SET state_rank = {NOT_JUDGED}, tier_rank = {NO_TIER} WHERE dataset_key = :old
"""  # noqa: S608 - constants
_DROPPED = (tables.dataset_policy, tables.dataset_limit, tables.dataset_state)


# The key of a job stands in the same column.
_OF_DATASETS = {
    "ownership": " AND subject = 'dataset'",
    "description": " AND subject IN ('dataset', 'fields')",
}
# The runs of an edge begin with its key: they need no index of their own by what is written.
_OF_EDGES = """
    (upstream_key, downstream_key, job_key) IN (
        SELECT upstream_key, downstream_key, job_key FROM edge WHERE {which})
"""

_OTHER_NAMES = """
    EXISTS (SELECT 1 FROM dataset n WHERE n.canonical_key = d.dataset_key
        AND n.dataset_key <> d.dataset_key)
"""
_HAS_ROWS = " OR ".join(
    [
        _OTHER_NAMES,
        *(
            f"EXISTS (SELECT 1 FROM {table.name} WHERE {column} = d.dataset_key"  # noqa: S608
            f"{_OF_DATASETS.get(table.name, '')})"
            for table, column in (
                # Runs of an edge are not there without the edge.
                *((table, column) for table, column, _ in _MOVED if table is not tables.edge_run),
                *((table, "dataset_key") for table in _DROPPED),
            )
        ),
    ]
)
_KNOWN = f"SELECT d.dataset_key FROM dataset d WHERE d.dataset_key IN :keys AND ({_HAS_ROWS})"  # noqa: S608


def find_known(connection: Connection, keys: Iterable[int]) -> set[int]:
    """Return those of the datasets that have anything which `move_facts` would move."""
    return {row.dataset_key for row in in_parts(connection, _KNOWN, keys)}


def move_facts(connection: Connection, old: Sequence[int], new: int) -> None:
    """Merge all facts of the datasets `old` into those of `new`."""
    # First, while each has few rows: those of `new` may be very many.
    _rename_jobs(connection, old, new)
    keys = [{"old": one, "new": new} for one in old]
    for statement in _statements(connection.dialect):
        connection.execute(statement, keys)
    _recount(connection, new)


@cache
def _statements(dialect: Dialect) -> tuple[TextClause, ...]:
    """Return the statements that move one dataset, by `old` and `new`."""
    dropped = (f"DELETE FROM {table.name} WHERE dataset_key = :old" for table in _DROPPED)  # noqa: S608
    return (
        text("UPDATE dataset SET canonical_key = :new WHERE canonical_key = :old"),
        text(_UNRANKED),
        *(one for moved in _MOVED for one in _moving(dialect, *moved)),
        *map(text, dropped),
    )


def _moving(
    dialect: Dialect, table: Table, column: str, folds: dict[str, ColumnFold]
) -> Iterator[TextClause]:
    names = [c.name for c in table.primary_key if c.name != column] + list(folds)
    where = _where(table, f"{column} = :old") + _OF_DATASETS.get(table.name, "")
    select = (
        f"SELECT CAST(:new AS BIGINT) AS {column}, {', '.join(names)} FROM {table.name} {where}"  # noqa: S608 - our own tables
    )
    yield prepare(dialect, table, select, folds)
    yield text(f"DELETE FROM {table.name} {where}")  # noqa: S608


def _where(table: Table, which: str) -> str:
    return f"WHERE {_OF_EDGES.format(which=which) if table is tables.edge_run else which}"


def _rename_jobs(connection: Connection, old: Sequence[int], new: int) -> None:
    """Rename keys of jobs: a job's key holds the name of the dataset that it writes."""
    name = connection.execute(
        text("SELECT namespace, name FROM dataset WHERE dataset_key = :new"), {"new": new}
    ).one()
    dataset = (name.namespace, name.name)
    jobs = connection.execute(_JOBS, {"keys": list(old)}).all()
    rights = [(job, job_key(job.job_namespace, job.job_name, dataset)) for job in jobs]
    keys = [
        {"dataset": job.dataset_key, "wrong": job.job_key, "right": right}
        for job, right in rights
        if job.job_key != right
    ]
    for statement in _renaming(connection.dialect) if keys else ():
        connection.execute(statement, keys)


_JOBS = text("""
    SELECT DISTINCT downstream_key AS dataset_key, job_namespace, job_name, job_key FROM edge
        WHERE downstream_key IN :keys
    UNION SELECT DISTINCT dataset_key, job_namespace, job_name, job_key FROM dataset_write
        WHERE dataset_key IN :keys
""").bindparams(bindparam("keys", expanding=True))


@cache
def _renaming(dialect: Dialect) -> tuple[TextClause, ...]:
    """Return the statements that change a job's key, by `dataset`, `wrong` and `right`."""
    which = "downstream_key = :dataset AND job_key = :wrong"
    seen_in_run = ", ".join(["upstream_key", "downstream_key", "root_run_id", *_SEEN_IN_RUN])
    edge = ", ".join(["upstream_key", "downstream_key", *_JOB, *_EDGE])
    return (
        text(
            "UPDATE dataset_write SET job_key = :right WHERE dataset_key = :dataset AND "
            "job_key = :wrong"
        ),
        *(
            statement
            for table, names, folds in (
                (tables.edge_run, seen_in_run, _SEEN_IN_RUN),
                (tables.edge, edge, {**_JOB, **_EDGE}),
            )
            for statement in (
                prepare(
                    dialect,
                    table,
                    f"SELECT CAST(:right AS BIGINT) AS job_key, {names} FROM {table.name}"  # noqa: S608
                    f" {_where(table, which)}",
                    folds,
                ),
                text(f"DELETE FROM {table.name} {_where(table, which)}"),  # noqa: S608
            )
        ),
    )


def _recount(connection: Connection, new: int) -> None:
    connection.execute(
        text("""
        UPDATE edge SET runs = (
            SELECT count(*) FROM edge_run r WHERE r.upstream_key = edge.upstream_key
            AND r.downstream_key = edge.downstream_key AND r.job_key = edge.job_key
        ) WHERE upstream_key = :new OR downstream_key = :new
        """),
        {"new": new},
    )
    connection.execute(
        text("""
        UPDATE dataset_activity SET writes = (SELECT count(*) FROM dataset_write w WHERE
            w.dataset_key = :new)
        WHERE dataset_key = :new
        """),
        {"new": new},
    )
    renew_last_write(connection, f"SELECT CAST({new} AS BIGINT)")
