"""Writes, reads and edges: derived from the runs that a batch touched, for their keys only.

A contribution of a run is folded in, never recounted from all runs of its root: a stream of months
has one root. Only a run that
turns out to have failed, or to have changed a schema, after it counted as a write makes its write
be worked out anew.
"""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from slis.stream.unfold import job_key
from slis.stream.upsert import (
    Fold,
    added,
    at_the_later,
    both,
    either,
    greatest,
    least,
    upsert,
)

_MICROS_AN_HOUR = 3_600_000_000
_SCHEMA_CHANGES = "('ALTER', 'TRUNCATE', 'DROP', 'RENAME')"

# Runs (of `chosen`) and what they read and wrote, by canonical dataset, with what makes them a
# write.
_CONTRIBUTIONS = f"""
    SELECT run_key, dataset_key, first_event_at, last_event_at, started_at, completed_at, failed_at,
        nominal_start_at, rows, root_run_id, run_id, job_namespace, job_name, direction,
        partition, is_streaming,
        is_history, CASE WHEN direction = 'write' AND completed_at IS NOT NULL AND failed_at IS NULL
            AND is_schema_change = 0 THEN 1 ELSE 0 END AS is_write, is_schema_change,
        CASE WHEN lifecycle = 'DROP' THEN 1 ELSE 0 END AS is_dropped, names_input
    FROM (
        SELECT *, CASE WHEN lifecycle IN {_SCHEMA_CHANGES} THEN 1
            WHEN lifecycle = 'CREATE' AND names_input = 0
                AND has_statistics = 0 THEN 1 ELSE 0 END AS is_schema_change
        FROM (
            SELECT r.run_key, d.canonical_key AS dataset_key, io.first_event_at, io.last_event_at,
                r.started_at,
                r.completed_at, r.failed_at, coalesce(r.nominal_start_at,
                io.partition_at) AS nominal_start_at,
                io.rows, r.root_run_id, r.run_id, r.root_job_namespace AS job_namespace,
                r.root_job_name AS job_name, io.direction, io.partition, io.lifecycle,
                CASE WHEN r.processing_type = 'STREAMING' THEN 1 ELSE 0 END AS is_streaming,
                CASE WHEN r.is_history THEN 1 ELSE 0 END AS is_history,
                CASE WHEN io.has_statistics THEN 1 ELSE 0 END AS has_statistics,
                max(CASE WHEN io.direction = 'read' THEN 1 ELSE 0 END) OVER (PARTITION BY
                r.run_key) AS names_input
            FROM {{chosen}} JOIN run_io io ON io.run_key = r.run_key
            JOIN dataset d ON d.dataset_key = io.dataset_key
        ) AS touched_io
    ) AS classified
"""  # noqa: S608 - our own tables
_COLUMNS = (
    "run_key, dataset_key, first_event_at, last_event_at, started_at, completed_at, failed_at, nominal_start_at, "
    "rows, root_run_id, run_id, job_namespace, job_name, direction, partition, is_streaming, is_history, is_write, "
    "is_schema_change, is_dropped, names_input"
)


def touch(connection: Connection) -> None:
    """What the batch's runs contribute now (`staging.touched`), their streams' hours, and the jobs that they are of."""
    chosen = "(SELECT DISTINCT run_key FROM s_run) AS s JOIN run r ON r.run_key = s.run_key"
    connection.execute(
        text(f"INSERT INTO t_touched ({_COLUMNS}) {_CONTRIBUTIONS.format(chosen=chosen)}")
    )
    connection.execute(text(_STREAMED), {"hour": _MICROS_AN_HOUR})
    _name_jobs(connection)


_STREAMED = """
    INSERT INTO t_streamed (dataset_key, bucket, at, rows, root_run_id, job_namespace, job_name,
        direction,
        names_input, is_history)
    SELECT d.canonical_key, io.hour,
        CASE WHEN io.direction = 'write' THEN max(io.streamed_at) ELSE min(io.first_event_at) END,
        max(io.rows), r.root_run_id, max(r.root_job_namespace), max(r.root_job_name), io.direction,
        max(CASE WHEN EXISTS (SELECT 1 FROM run_io i WHERE i.run_key = r.run_key
        AND i.direction = 'read')
            THEN 1 ELSE 0 END),
        min(CASE WHEN r.is_history THEN 1 ELSE 0 END)
    FROM s_run_io io JOIN s_name n ON n.spelling_key = io.spelling_key
    JOIN run r ON r.run_key = io.run_key
    JOIN dataset d ON d.dataset_key = n.dataset_key
    WHERE io.hour IS NOT NULL AND (io.direction = 'read' OR io.streamed_at IS NOT NULL)
    GROUP BY d.canonical_key, io.hour, r.root_run_id, io.direction
"""


def _name_jobs(connection: Connection) -> None:
    """A job's key is a hash that SQL cannot compute."""
    jobs = connection.execute(
        text("""
        SELECT s.job_namespace, s.job_name, s.dataset_key, d.namespace, d.name FROM (
            SELECT job_namespace, job_name, dataset_key FROM t_touched WHERE direction = 'write'
            UNION SELECT job_namespace, job_name,
                dataset_key FROM t_streamed WHERE direction = 'write'
            UNION SELECT e.job_namespace, e.job_name, d.canonical_key FROM s_declared_edge e
                JOIN s_name n ON n.spelling_key = e.downstream_spelling_key
                JOIN dataset d ON d.dataset_key = n.dataset_key
        ) AS s JOIN dataset d ON d.dataset_key = s.dataset_key
        """)
    ).all()
    if jobs:
        connection.execute(
            text(
                "INSERT INTO t_job (job_namespace, job_name, dataset_key, job_key) VALUES (:n, :j, :d, :k)"
            ),
            [
                {
                    "n": job.job_namespace,
                    "j": job.job_name,
                    "d": job.dataset_key,
                    "k": job_key(job.job_namespace, job.job_name, (job.namespace, job.name)),
                }
                for job in jobs
            ],
        )


WRITE_FOLDS: dict[str, Fold] = {
    "job_key": greatest,
    "job_namespace": greatest,
    "job_name": greatest,
    "landed_at": at_the_later("written_at"),
    "written_at": greatest,
    "nominal_start_at": greatest,
    "partition": greatest,
    "names_input": either,
    "is_reported": either,
    "is_streaming": either,
    "is_history": both,
    "rows": greatest,
}
_WRITES = """
    SELECT w.dataset_key, w.root_run_id, 0 AS bucket, max(j.job_key) AS job_key,
        max(w.job_namespace) AS job_namespace,
        max(w.job_name) AS job_name, max(w.completed_at) AS written_at, :landed_at AS landed_at,
        max(w.nominal_start_at) AS nominal_start_at, max(w.partition) AS partition,
        max(w.names_input) = 1 AS names_input, 1 = 1 AS is_reported,
        max(w.is_streaming) = 1 AS is_streaming,
        min(w.is_history) = 1 AS is_history, max(w.rows) AS rows
    FROM {contributions} w
    JOIN t_job j ON j.job_namespace = w.job_namespace AND j.job_name = w.job_name
        AND j.dataset_key = w.dataset_key
    WHERE w.is_write = 1 GROUP BY w.dataset_key, w.root_run_id
"""
_STREAM_WRITES = """
    SELECT s.dataset_key, s.root_run_id, s.bucket, j.job_key, s.job_namespace, s.job_name,
        s.at AS written_at,
        :landed_at AS landed_at, CAST(NULL AS BIGINT) AS nominal_start_at,
        CAST(NULL AS TEXT) AS partition,
        s.names_input = 1 AS names_input, 1 = 1 AS is_reported, 1 = 1 AS is_streaming,
        s.is_history = 1 AS is_history, s.rows
    FROM t_streamed s
    JOIN t_job j ON j.job_namespace = s.job_namespace AND j.job_name = s.job_name
        AND j.dataset_key = s.dataset_key
    WHERE s.direction = 'write'
"""


def derive_writes(connection: Connection, landed_at: int) -> None:
    """`dataset_write`, and in `staging.new_write` how many rows of it are new."""
    connection.execute(text(_COUNT_NEW_WRITES))
    for select in (_WRITES.format(contributions="t_touched"), _STREAM_WRITES):
        upsert(
            connection, tables.dataset_write, select, WRITE_FOLDS, given={"landed_at": landed_at}
        )
    # A stream's input may be told after its output.
    connection.execute(text(_STREAMS_WITH_INPUT))
    _revoke(connection, landed_at)


_COUNT_NEW_WRITES = """
    INSERT INTO t_new_write (dataset_key, writes)
    SELECT dataset_key, count(*) FROM (
        SELECT dataset_key, root_run_id, 0 AS bucket FROM t_touched WHERE is_write = 1
        UNION SELECT dataset_key, root_run_id, bucket FROM t_streamed WHERE direction = 'write'
    ) AS w WHERE NOT EXISTS (
        SELECT 1 FROM dataset_write d
        WHERE d.dataset_key = w.dataset_key AND d.root_run_id = w.root_run_id
            AND d.bucket = w.bucket
    ) GROUP BY dataset_key
"""
_STREAMS_WITH_INPUT = """
    UPDATE dataset_write SET names_input = (1 = 1)
    WHERE bucket <> 0 AND NOT names_input AND (dataset_key, root_run_id) IN (
        SELECT dataset_key, root_run_id FROM t_touched
        WHERE is_streaming = 1 AND direction = 'write' AND names_input = 1
    )
"""
_REVOKED = """
    SELECT DISTINCT w.dataset_key, w.root_run_id FROM t_touched t
    JOIN dataset_write w ON w.dataset_key = t.dataset_key AND w.root_run_id = t.root_run_id
        AND w.bucket = 0
    WHERE t.direction = 'write' AND (t.failed_at IS NOT NULL OR t.is_schema_change = 1)
"""


def _revoke(connection: Connection, landed_at: int) -> None:
    """Work out anew the writes of which a run turned out to have failed, or to have changed a schema only."""
    revoked = connection.execute(text(_REVOKED)).all()
    for dataset_key, root_run_id in revoked:
        keys = {"dataset_key": dataset_key, "root_run_id": root_run_id}
        chosen = (
            "(SELECT CAST(:root_run_id AS TEXT) AS root) AS s JOIN run r ON r.root_run_id = s.root"
        )
        contributions = (
            f"(SELECT * FROM ({_CONTRIBUTIONS.format(chosen=chosen)}) AS c "  # noqa: S608 - our own tables
            "WHERE c.dataset_key = :dataset_key)"
        )
        where = "WHERE dataset_key = :dataset_key AND root_run_id = :root_run_id AND bucket = 0"
        landed = connection.execute(
            text(f"SELECT written_at, landed_at FROM dataset_write {where}"), keys
        ).one()
        connection.execute(text(f"DELETE FROM dataset_write {where}"), keys)  # noqa: S608
        kept = upsert(
            connection,
            tables.dataset_write,
            _WRITES.format(contributions=contributions),
            WRITE_FOLDS,
            given={"landed_at": landed_at, **keys},
        )
        if kept:
            # What stands as it stood has landed when it had.
            connection.execute(
                text(
                    f"UPDATE dataset_write SET landed_at = :landed_at {where} AND written_at = :written_at"
                ),
                {**keys, **landed._mapping},  # noqa: SLF001 - SQLAlchemy's public name
            )
        else:
            connection.execute(text(_ONE_LESS), keys)


_ONE_LESS = """
    INSERT INTO t_new_write (dataset_key, writes) VALUES (:dataset_key, -1)
    ON CONFLICT (dataset_key) DO UPDATE SET writes = t_new_write.writes - 1
"""


def derive_reads(connection: Connection, landed_at: int) -> None:
    """`dataset_read`: one a root run and dataset; of a stream, one an hour."""
    upsert(
        connection,
        tables.dataset_read,
        """
        SELECT dataset_key, root_run_id, 0 AS bucket, max(job_namespace) AS job_namespace,
            max(job_name) AS job_name,
            min(first_event_at) AS read_at, :landed_at AS landed_at, 1 = 1 AS is_reported,
            1 = 0 AS is_streaming,
            min(is_history) = 1 AS is_history
        FROM t_touched WHERE direction = 'read' AND is_streaming = 0 GROUP BY dataset_key,
            root_run_id
        UNION ALL
        SELECT dataset_key, root_run_id, bucket, job_namespace, job_name, at, :landed_at, 1 = 1,
            1 = 1, is_history = 1
        FROM t_streamed WHERE direction = 'read'
        """,
        {
            "job_namespace": greatest,
            "job_name": greatest,
            "read_at": least,
            "is_reported": either,
            "is_streaming": either,
            "is_history": both,
        },
        keeps="landed_at",
        given={"landed_at": landed_at},
    )


_EDGES = """
    INSERT INTO t_new_edge (upstream_key, downstream_key, job_key, root_run_id, job_namespace,
        job_name,
        first_seen_at, last_seen_at, is_new)
    SELECT i.dataset_key, o.dataset_key, j.job_key, o.root_run_id, o.job_namespace, o.job_name,
        min(o.first_event_at), max(o.last_event_at),
        CASE WHEN EXISTS (SELECT 1 FROM edge_run e WHERE e.upstream_key = i.dataset_key
            AND e.downstream_key = o.dataset_key AND e.job_key = j.job_key
            AND e.root_run_id = o.root_run_id)
        THEN 0 ELSE 1 END
    FROM t_touched o JOIN t_touched i ON i.run_key = o.run_key AND i.direction = 'read'
    JOIN t_job j ON j.job_namespace = o.job_namespace AND j.job_name = o.job_name
        AND j.dataset_key = o.dataset_key
    WHERE o.direction = 'write' AND o.is_schema_change = 0
    GROUP BY i.dataset_key, o.dataset_key, j.job_key, o.root_run_id, o.job_namespace, o.job_name
"""
_EDGE_FOLDS: dict[str, Fold] = {
    "first_seen_at": least,
    "last_seen_at": greatest,
    "runs": added,
}


def derive_edges(connection: Connection) -> None:
    """`edge`, with the number of root runs that named it, and `edge_run`, which tells those apart."""
    connection.execute(text(_EDGES))
    upsert(
        connection,
        tables.edge_run,
        """
        SELECT upstream_key, downstream_key, job_key, root_run_id, last_seen_at AS seen_at
        FROM t_new_edge WHERE 1 = 1
        """,
        {"seen_at": greatest},
    )
    upsert(
        connection,
        tables.edge,
        """
        SELECT upstream_key, downstream_key, job_key, max(job_namespace) AS job_namespace,
            max(job_name) AS job_name,
            min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at,
            sum(is_new) AS runs
        FROM t_new_edge GROUP BY upstream_key, downstream_key, job_key
        """,
        _EDGE_FOLDS,
        keeps="job_namespace job_name",
    )
    _declare_edges(connection)


def _declare_edges(connection: Connection) -> None:
    """Edges that a JobEvent declares: none of its runs has named them yet."""
    upsert(
        connection,
        tables.edge,
        """
        SELECT du.canonical_key AS upstream_key, dd.canonical_key AS downstream_key, j.job_key,
            max(e.job_namespace) AS job_namespace, max(e.job_name) AS job_name,
            min(e.first_seen_at) AS first_seen_at, max(e.last_seen_at) AS last_seen_at, 0 AS runs
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
