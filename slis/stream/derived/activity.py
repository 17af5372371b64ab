"""Latest activity of each dataset: one row a dataset.

What an evaluation reads instead of all writes and reads.
"""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.queries import leaf_job
from lineage.catalog.upsert import add_up, greatest, least, upsert
from lineage.process.clock import SECOND_MICROS
from slis.stream.derived.failed_runs import store_failures

_HAPPENED = """
    SELECT dataset_key, max(last_read_at) AS last_read_at, min(first_read_at) AS first_read_at,
        max(last_started_at) AS last_started_at,
        sum(writes) AS writes, 0 AS learned_writes
    FROM (
        SELECT dataset_key,
            CASE WHEN direction = 'read' THEN last_event_at END AS last_read_at,
            CASE WHEN direction = 'read' THEN first_event_at END AS first_read_at,
            CASE WHEN direction = 'write' AND is_schema_change = 0 THEN started_at END
                AS last_started_at,
            0 AS writes
        FROM t_touched
        UNION ALL
        SELECT dataset_key, NULL, NULL, NULL, writes FROM t_new_write
    ) AS happened GROUP BY dataset_key
"""
# A backfill makes nothing fresh: its nominal time is more than a cadence behind the newest that
# its job had written by then. No later write is a backfill beside one for the far future (a
# partition of 2099, a mistyped date): that one counts as meant for when it was written.
_MEANT_FOR = """
    CASE WHEN x.nominal_start_at > x.written_at THEN x.written_at ELSE x.nominal_start_at END
"""
_IS_BACKFILL = f"""
    w.nominal_start_at IS NOT NULL AND w.nominal_start_at < {{newest}}
    - (SELECT l.cadence_seconds * {SECOND_MICROS} FROM dataset_limit l WHERE l.dataset_key =
        w.dataset_key)
"""  # noqa: S608 - a number of ours
_NEWEST_BY_THEN = f"""(
        SELECT max({_MEANT_FOR}) FROM dataset_write x
        WHERE x.dataset_key = w.dataset_key AND x.job_key = w.job_key
            AND x.written_at <= w.written_at
    )"""  # noqa: S608 - our own columns
IS_BACKFILL = _IS_BACKFILL.format(newest=_NEWEST_BY_THEN)
# The same rule for many writes of a dataset: each is looked at once, whatever their number.
NEWEST_MEANT_FOR = f"""
    max({_MEANT_FOR})
        OVER (PARTITION BY x.dataset_key, x.job_key ORDER BY x.written_at)
"""
IS_BACKFILL_AMONG = _IS_BACKFILL.format(newest="w.newest_meant_for")
# One look for each dataset: joined with `dataset_write`, PostgreSQL looks once for each write that
# is stored. Null where the dataset has no write.
_LAST_WRITE = f"""
    UPDATE dataset_activity SET (
        last_written_at, last_write_landed_at, last_write_root_run_id, last_write_names_input,
        last_write_is_reported, last_write_is_streaming, last_job_namespace, last_job_name
    ) = (
        SELECT w.written_at, w.landed_at, w.root_run_id, w.names_input, w.is_reported,
            w.is_streaming, w.job_namespace, w.job_name
        FROM dataset_write w
        WHERE w.dataset_key = dataset_activity.dataset_key AND NOT coalesce({IS_BACKFILL}, 1 = 0)
        ORDER BY w.written_at DESC, w.root_run_id DESC, w.bucket DESC LIMIT 1
    )
    WHERE dataset_key IN ({{touched}})
"""  # noqa: S608 - our own tables
TOUCHED = (
    "SELECT dataset_key FROM t_touched WHERE direction = 'write' UNION SELECT dataset_key FROM "
    "t_new_write"
)
_PRODUCERS = """
    SELECT p.job_namespace FROM dataset m JOIN dataset_producer p ON p.dataset_key = m.dataset_key
    WHERE m.canonical_key = d.canonical_key
"""
_IS_DECLARED = """
    EXISTS (SELECT 1 FROM dataset m WHERE m.canonical_key = d.canonical_key AND m.is_declared)
"""
# Drops by the jobs that have written the dataset.
_OWN_DROPS = f"""
    FROM dataset m
    JOIN run_io io ON io.dataset_key = m.dataset_key AND io.direction = 'write'
        AND io.lifecycle = 'DROP'
    JOIN run r ON r.run_key = io.run_key
    WHERE m.canonical_key = d.canonical_key AND EXISTS (
        SELECT 1 FROM run_io o JOIN run q ON q.run_key = o.run_key
        JOIN dataset n ON n.dataset_key = o.dataset_key
        WHERE n.canonical_key = m.canonical_key AND o.direction = 'write'
        AND (q.completed_at IS NOT NULL OR o.streamed_at IS NOT NULL)
        AND coalesce(o.lifecycle, '') NOT IN ('DROP', 'RENAME')
        AND {leaf_job("namespace", "q")} = {leaf_job("namespace")}
        AND {leaf_job("name", "q")} = {leaf_job("name")})
"""  # noqa: S608 - our own columns
# A drop counts if a job namespace that is known to write the dataset says so, and all others that
# write it have claimed it too. Where no event of a writer came, there is nobody to ask. A declared
# dataset is dropped by a job that wrote it alone. An event without a run drops nothing.
_JUDGE_DROPS = f"""
    UPDATE dataset_claim SET is_refused = (
        SELECT {_IS_DECLARED} AND NOT EXISTS (SELECT 1 {_OWN_DROPS})
            OR EXISTS ({_PRODUCERS} AND p.job_namespace NOT IN (
                SELECT s.job_namespace FROM dataset n JOIN dataset_claim s
                ON s.alias_key = n.dataset_key AND s.rule = 'drop'
                WHERE n.canonical_key = d.canonical_key))
            OR EXISTS ({_PRODUCERS}) AND dataset_claim.job_namespace NOT IN ({_PRODUCERS})
            OR dataset_claim.job_namespace = ''
        FROM dataset d WHERE d.dataset_key = dataset_claim.alias_key)
    WHERE rule = 'drop' AND alias_key IN (
        SELECT dataset_key FROM dataset WHERE canonical_key IN ({{touched}}))
"""  # noqa: S608 - our own tables
_DROPPED = f"""
    UPDATE dataset_activity SET last_dropped_at = (
        SELECT max(CASE WHEN {_IS_DECLARED}
            THEN (SELECT max(coalesce(r.completed_at, io.last_event_at)) {_OWN_DROPS})
            ELSE c.last_seen_at END)
        FROM dataset d JOIN dataset_claim c
        ON c.alias_key = d.dataset_key AND c.rule = 'drop' AND NOT c.is_refused
        WHERE d.canonical_key = dataset_activity.dataset_key)
    WHERE dataset_key IN ({{touched}}) AND EXISTS (
        SELECT 1 FROM dataset d JOIN dataset_claim c ON c.alias_key = d.dataset_key
        AND c.rule = 'drop' WHERE d.canonical_key = dataset_activity.dataset_key)
"""  # noqa: S608 - our own tables
_BACK = """
    UPDATE dataset SET retired_at = NULL WHERE canonical_key IN ({touched}) AND EXISTS (
        SELECT 1 FROM dataset m JOIN dataset_claim c ON c.alias_key = m.dataset_key
        AND c.rule = 'drop' AND c.is_refused
        WHERE m.canonical_key = dataset.canonical_key
        AND dataset.retired_at BETWEEN c.first_seen_at AND c.last_seen_at)
"""
_RETIRE = """
    UPDATE dataset SET retired_at = (
        SELECT CASE WHEN a.last_dropped_at > coalesce(a.last_written_at,
            0) THEN a.last_dropped_at END
        FROM dataset_activity a WHERE a.dataset_key = dataset.canonical_key
    )
    WHERE canonical_key IN (
        SELECT a.dataset_key FROM dataset_activity a WHERE a.dataset_key IN ({touched})
        AND (a.last_dropped_at > coalesce(a.last_written_at, 0)
            OR (SELECT min(d.retired_at) FROM dataset d WHERE d.canonical_key = a.dataset_key) <=
                a.last_written_at)
    )
"""
# Few batches touch a dataset that was ever dropped.
_ANY_DROPPED = """
    SELECT 1 FROM dataset d WHERE d.canonical_key IN ({touched})
        AND (d.retired_at IS NOT NULL OR EXISTS (
            SELECT 1 FROM dataset_claim c WHERE c.alias_key = d.dataset_key AND c.rule = 'drop'))
    UNION ALL
    SELECT 1 FROM dataset_activity a
    WHERE a.dataset_key IN ({touched}) AND a.last_dropped_at IS NOT NULL
    LIMIT 1
"""


def derive_activity(connection: Connection) -> None:
    """Renew `dataset_activity` of the datasets that the batch touched, and whether they exist."""
    upsert(
        connection,
        tables.dataset_activity,
        _HAPPENED,
        {
            "last_read_at": greatest,
            "first_read_at": least,
            "last_started_at": greatest,
            "writes": add_up,
        },
        keeps="learned_writes",
    )
    store_failures(connection)
    renew_last_write(connection, TOUCHED)


def renew_last_write(connection: Connection, touched: str) -> None:
    """Renew the newest write of the `touched` datasets, and whether a DROP came after it."""
    connection.execute(text(_LAST_WRITE.format(touched=touched)))
    if connection.execute(text(_ANY_DROPPED.format(touched=touched))).first() is None:
        return
    for statement in (_JUDGE_DROPS, _DROPPED, _BACK, _RETIRE):
        connection.execute(text(statement.format(touched=touched)))
