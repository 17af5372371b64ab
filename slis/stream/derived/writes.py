"""Writes derived from the runs that a batch touched, for the keys of these runs only.

The runs of one root run that write a dataset within an hour are one write. A Thrift server, a
notebook or a `foreachBatch` stream has one root run for months: each hour in which a query of it
writes is a write. What the hours of a root run mean for a cadence is decided where cadences are
learned (`slis.cadence.deliveries.end_root_runs`).

A contribution of a run is folded in, never recounted from all runs of its root. Only a run that
counted as a write and then failed, changed a schema or completed again in a later hour makes the
pipeline recompute the write of that hour.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, or_, text

from lineage.catalog import tables
from lineage.catalog.new_rows import Then, insert_or_fold
from lineage.catalog.queries import (
    IS_STREAM_HOUR,
    is_in_bucket,
    leaf_job,
    sql_hour_of,
    write_bucket,
)
from lineage.catalog.upsert import ColumnFold, at_the_later, both, either, greatest, upsert
from slis.stream.derived.contributions import key_jobs, select_contributions
from slis.stream.merge.known_roots import IS_KNOWN


def _of_the_later_job(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401 - columns
    """Return the value of the later write; of two at one time, of the greater job key."""
    before, after = kept.table.c, given.table.c
    is_tied = and_(after.written_at == before.written_at, after.job_key > before.job_key)
    return case((or_(after.written_at > before.written_at, is_tied), given), else_=kept)


WRITE_FOLDS: dict[str, ColumnFold] = {
    **dict.fromkeys(("job_key", "job_namespace", "job_name"), _of_the_later_job),
    "landed_at": at_the_later("written_at"),
    "written_at": greatest,
    "nominal_start_at": greatest,
    "partition": greatest,
    "names_input": either,
    "is_reported": either,
    "is_streaming": either,
    "is_history": both,
    "rows": greatest,
    "schema_key": greatest,
    "code_version": greatest,
}
_WRITES = """
    SELECT w.dataset_key, w.root_run_id, w.bucket,
        max(CASE WHEN w.place = 1 THEN w.job_key END) AS job_key,
        max(CASE WHEN w.place = 1 THEN w.job_namespace END) AS job_namespace,
        max(CASE WHEN w.place = 1 THEN w.job_name END) AS job_name,
        max(w.completed_at) AS written_at, :landed_at AS landed_at,
        max(w.nominal_start_at) AS nominal_start_at, max(w.partition) AS partition,
        max(w.names_input) = 1 AS names_input, max(w.is_reported) = 1 AS is_reported,
        max(w.is_streaming) = 1 AS is_streaming,
        min(w.is_history) = 1 AS is_history, max(w.rows) AS rows,
        max(w.schema_key) AS schema_key, max(w.code_version) AS code_version
    FROM (
        SELECT c.*, j.job_key, {bucket} AS bucket, row_number() OVER (
            PARTITION BY c.dataset_key, c.root_run_id, {bucket}
            ORDER BY c.completed_at DESC, j.job_key DESC) AS place
        FROM {contributions} c
        JOIN t_job j ON j.job_namespace = c.job_namespace AND j.job_name = c.job_name
            AND j.dataset_key = c.dataset_key
        WHERE c.is_write = 1
    ) AS w WHERE {chosen}
    GROUP BY w.dataset_key, w.root_run_id, w.bucket
"""
_BUCKET = write_bucket("c.completed_at")
_STREAM_WRITES = """
    SELECT s.dataset_key, s.root_run_id, s.bucket, j.job_key, s.job_namespace, s.job_name,
        s.at AS written_at,
        :landed_at AS landed_at, CAST(NULL AS BIGINT) AS nominal_start_at,
        CAST(NULL AS TEXT) AS partition,
        s.names_input = 1 AS names_input, 1 = 1 AS is_reported,
        s.is_measured = 1 AS is_streaming, s.is_history = 1 AS is_history,
        s.rows, CAST(NULL AS BIGINT) AS schema_key,
        CAST(NULL AS TEXT) AS code_version
    FROM t_streamed s
    JOIN t_job j ON j.job_namespace = s.job_namespace AND j.job_name = s.job_name
        AND j.dataset_key = s.dataset_key
    WHERE s.direction = 'write' AND {chosen}
"""


def derive_writes(connection: Connection, landed_at: int) -> None:
    """Fold writes into `dataset_write`, and count its new rows in `staging.new_write`."""
    known = connection.execute(text(_STORE_KNOWN), execution_options={"preserve_rowcount": True})
    if connection.dialect.name == "sqlite":
        connection.execute(text(_COUNT_NEW_WRITES))
    for alias, select in (("w", _WRITES_OF_BATCH), ("s", _STREAM_WRITES)):
        insert_or_fold(
            connection,
            tables.dataset_write,
            select,
            WRITE_FOLDS,
            known=_IS_KNOWN.format(write=alias),
            is_any_known=known.rowcount > 0,
            given={"landed_at": landed_at},
            then=_COUNT_INSERTED,
        )
    # An event may name a stream's input after another has named its output.
    connection.execute(text(_STREAMS_WITH_INPUT))
    _revoke(connection, landed_at)


_WRITES_OF_BATCH = _WRITES.format(contributions="t_touched", bucket=_BUCKET, chosen="{chosen}")
_KEYS = f"""
    SELECT dataset_key, root_run_id, {write_bucket("completed_at")} AS bucket
    FROM t_touched WHERE is_write = 1 AND {{chosen}}
    UNION SELECT dataset_key, root_run_id, bucket FROM t_streamed
    WHERE direction = 'write' AND {{chosen}}
"""  # noqa: S608 - our own columns
# By IS TRUE, PostgreSQL looks only writes of known root runs up: else it joins these last.
_KEYS_OF_KNOWN = _KEYS.format(chosen=f"({IS_KNOWN}) IS TRUE")
_STORE_KNOWN = f"""
    INSERT INTO t_known_write (dataset_key, root_run_id, bucket)
    SELECT d.dataset_key, d.root_run_id, d.bucket FROM ({_KEYS_OF_KNOWN}) AS w
    CROSS JOIN dataset_write d
    WHERE d.dataset_key = w.dataset_key AND d.root_run_id = w.root_run_id AND d.bucket = w.bucket
"""  # noqa: S608 - our own tables
# `NOT IN` of several columns makes SQLite compare each write with each.
_IS_KNOWN = """
    EXISTS (SELECT 1 FROM t_known_write k WHERE k.dataset_key = {write}.dataset_key
        AND k.root_run_id = {write}.root_run_id AND k.bucket = {write}.bucket)
"""
# PostgreSQL counts them as it inserts them.
_COUNT_INSERTED = Then(
    "dataset_key",
    """
    INSERT INTO t_new_write (dataset_key, writes)
    SELECT dataset_key, count(*) FROM inserted GROUP BY dataset_key
    ON CONFLICT (dataset_key) DO UPDATE SET writes = t_new_write.writes + excluded.writes
    """,
)
_COUNT_NEW_WRITES = f"""
    INSERT INTO t_new_write (dataset_key, writes)
    SELECT dataset_key, count(*) FROM ({_KEYS.format(chosen="1 = 1")}) AS w
    WHERE NOT ({_IS_KNOWN.format(write="w")})
    GROUP BY dataset_key
"""  # noqa: S608 - our own columns
_STREAMS_WITH_INPUT = f"""
    UPDATE dataset_write SET names_input = (1 = 1)
    WHERE {IS_STREAM_HOUR} AND NOT names_input AND (dataset_key, root_run_id) IN (
        SELECT dataset_key, root_run_id FROM t_touched
        WHERE is_streaming = 1 AND direction = 'write' AND names_input = 1
    )
"""  # noqa: S608 - our own columns


# Writes whose run no longer counts as a write, and writes whose run has completed again since. A
# run that changes a schema was counted only if it had completed before it reported it.
_REVOKED = f"""
    SELECT w.dataset_key, w.root_run_id, w.bucket, w.written_at, w.landed_at FROM (
        SELECT dataset_key, root_run_id, {write_bucket("completed_at")} AS bucket FROM t_touched
        WHERE direction = 'write' AND completed_at IS NOT NULL AND failed_at IS NOT NULL
        UNION SELECT t.dataset_key, t.root_run_id, {write_bucket("c.completed_at")}
        FROM t_known c JOIN t_touched t ON t.run_key = c.run_key AND t.direction = 'write'
            AND c.completed_at IS NOT NULL
        WHERE t.is_schema_change = 1
            OR {sql_hour_of("c.completed_at")} < {sql_hour_of("t.completed_at")}
    ) AS v JOIN dataset_write w ON w.dataset_key = v.dataset_key
        AND w.root_run_id = v.root_run_id AND w.bucket = v.bucket
"""  # noqa: S608 - our own columns
# Most batches have neither a failed run nor one that had completed before.
_MAY_REVOKE = text("""
    SELECT 1 FROM t_known WHERE completed_at IS NOT NULL
    UNION ALL SELECT 1 FROM t_touched WHERE failed_at IS NOT NULL LIMIT 1
""")
_IN_BUCKET = is_in_bucket("r.completed_at", ":bucket")
_OF_ROOT = f"""
    (SELECT CAST(:root AS TEXT) AS root) AS s
    JOIN run r ON r.root_run_id = s.root AND {_IN_BUCKET}
    JOIN run_io io ON io.run_key = r.run_key JOIN dataset d ON d.dataset_key = io.dataset_key
"""
_WRITES_OF_ROOT = _WRITES.format(
    contributions=f"""(
        SELECT * FROM ({select_contributions(_OF_ROOT, "d.canonical_key")}) AS o
        WHERE o.dataset_key = :dataset
    )""",  # noqa: S608 - our own tables
    bucket=_BUCKET,
    chosen="1 = 1",
)
_JOBS_OF_ROOT = f"""
    SELECT DISTINCT {leaf_job("namespace")} AS job_namespace, {leaf_job("name")} AS job_name,
        c.dataset_key, c.namespace, c.name
    FROM run r JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key AND d.canonical_key = :dataset
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE r.root_run_id = :root AND {_IN_BUCKET}
"""  # noqa: S608 - our own columns
_AT = "WHERE dataset_key = :dataset AND root_run_id = :root AND bucket = :bucket"
StoredWrite = Row[tuple[int, str, int, int, int]]
_DELETE_WRITE = f"DELETE FROM dataset_write {_AT}"  # noqa: S608 - our own columns
# A write that did not change keeps its landing time.
_KEEP_LANDING_TIME = f"""
    UPDATE dataset_write SET landed_at = :landed_at {_AT} AND written_at = :written_at
"""  # noqa: S608 - our own columns
_ONE_LESS = """
    INSERT INTO t_new_write (dataset_key, writes) VALUES (:dataset, -1)
    ON CONFLICT (dataset_key) DO UPDATE SET writes = t_new_write.writes - 1
"""


def _revoke(connection: Connection, landed_at: int) -> None:
    """Recompute the writes whose run no longer counts as a write."""
    if connection.execute(_MAY_REVOKE).first() is None:
        return
    for write in connection.execute(text(_REVOKED)).all():
        recompute_write(connection, write, landed_at)


def recompute_write(connection: Connection, write: StoredWrite, landed_at: int) -> None:
    """Recompute one write from the runs that are stored.

    Args:
        connection: inside the transaction of the batch.
        write: dataset_key, root_run_id, bucket, written_at and landed_at of the stored row.
        landed_at: of the batch.
    """
    keys = {"dataset": write.dataset_key, "root": write.root_run_id, "bucket": write.bucket}
    # Of other runs of the root, the batch has touched none: their jobs have no keys yet.
    key_jobs(connection, _JOBS_OF_ROOT, keys)
    connection.execute(text(_DELETE_WRITE), keys)
    is_written = upsert(
        connection,
        tables.dataset_write,
        _WRITES_OF_ROOT,
        WRITE_FOLDS,
        given={"landed_at": landed_at, **keys},
    )
    if is_written:
        before = {"landed_at": write.landed_at, "written_at": write.written_at}
        connection.execute(text(_KEEP_LANDING_TIME), {**keys, **before})
    else:
        connection.execute(text(_ONE_LESS), keys)
