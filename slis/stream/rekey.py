"""Moves what is known of a dataset to another key: its name turned out to be an alias."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, text

from lineage.catalog import tables
from slis.stream.activity import renew_last_write
from slis.stream.assertions import ASSERTION_FOLDS
from slis.stream.unfold import job_key
from slis.stream.upsert import Fold, both, either, greatest, least, upsert
from slis.stream.writes import WRITE_FOLDS


def _known(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    return func.coalesce(kept, given)


_SEEN: dict[str, Fold] = {"first_seen_at": least, "last_seen_at": greatest}
_JOB: dict[str, Fold] = {"job_namespace": greatest, "job_name": greatest}
_EDGE: dict[str, Fold] = {**_SEEN, "runs": greatest, "last_reported_at": greatest}
_SEEN_IN_RUN: dict[str, Fold] = {"seen_at": greatest, "is_reported": either}
# What the merge folds by the canonical key, and how.
_MOVED: tuple[tuple[Table, str, dict[str, Fold]], ...] = (
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
    (tables.tag, "dataset_key", {"last_seen_at": greatest}),
    (tables.ownership, "subject_key", {"type": greatest, "last_seen_at": greatest}),
    (tables.column_edge, "upstream_key", _SEEN),
    (tables.column_edge, "downstream_key", _SEEN),
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
            "last_failed_at": greatest,
            "last_failed_run_id": greatest,
            "last_failure": greatest,
            "last_dropped_at": greatest,
            "last_started_at": greatest,
            "writes": greatest,
            "learned_writes": least,
        },
    ),
)
# An evaluation works these out anew under the key that is left.
_DROPPED = (tables.dataset_policy, tables.dataset_limit, tables.dataset_state)


def move(connection: Connection, old: Sequence[int], new: int) -> None:
    """All that is known of the datasets `old` is known of `new` from here on."""
    for one in old:
        _move(connection, one, new)
    # Once for all of them: what is added up is that of `new`, which grows.
    _rename_jobs(connection, new)
    _recount(connection, new)


def _move(connection: Connection, old: int, new: int) -> None:
    keys = {"old": old, "new": new}
    connection.execute(
        text("UPDATE dataset SET canonical_key = :new WHERE canonical_key = :old"), keys
    )
    for table, column, folds in _MOVED:
        names = [c.name for c in table.primary_key if c.name != column] + list(folds)
        where = " AND subject = 'dataset'" if table is tables.ownership else ""
        select = (
            f"SELECT CAST(:new AS BIGINT) AS {column}, {', '.join(names)} "  # noqa: S608 - our own tables
            f"FROM {table.name} WHERE {column} = :old{where}"
        )
        upsert(connection, table, select, folds, given=keys)
        connection.execute(text(f"DELETE FROM {table.name} WHERE {column} = :old{where}"), keys)  # noqa: S608
    for table in _DROPPED:
        connection.execute(table.delete().where(table.c.dataset_key == old))


def _rename_jobs(connection: Connection, new: int) -> None:
    """A job's key holds the name of the dataset that it writes."""
    name = connection.execute(
        text("SELECT namespace, name FROM dataset WHERE dataset_key = :new"), {"new": new}
    ).one()
    jobs = connection.execute(
        text("""
        SELECT DISTINCT job_namespace, job_name, job_key FROM edge WHERE downstream_key = :new
        UNION SELECT DISTINCT job_namespace, job_name,
            job_key FROM dataset_write WHERE dataset_key = :new
        """),
        {"new": new},
    ).all()
    for job in jobs:
        right = job_key(job.job_namespace, job.job_name, (name.namespace, name.name))
        if right != job.job_key:
            _rename_job(connection, new, job.job_key, right)


def _rename_job(connection: Connection, dataset: int, wrong: int, right: int) -> None:
    keys = {"dataset": dataset, "wrong": wrong, "right": right}
    connection.execute(
        text(
            "UPDATE dataset_write SET job_key = :right WHERE dataset_key = :dataset AND "
            "job_key = :wrong"
        ),
        keys,
    )
    moved: tuple[tuple[Table, str, dict[str, Fold]], ...] = (
        (
            tables.edge_run,
            "upstream_key, downstream_key, root_run_id, seen_at, is_reported",
            _SEEN_IN_RUN,
        ),
        (
            tables.edge,
            ", ".join(["upstream_key", "downstream_key", *_JOB, *_EDGE]),
            {**_JOB, **_EDGE},
        ),
    )
    for table, names, folds in moved:
        where = "WHERE downstream_key = :dataset AND job_key = :wrong"
        select = f"SELECT CAST(:right AS BIGINT) AS job_key, {names} FROM {table.name} {where}"  # noqa: S608
        upsert(connection, table, select, folds, given=keys)
        connection.execute(text(f"DELETE FROM {table.name} {where}"), keys)  # noqa: S608


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
