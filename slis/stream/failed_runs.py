"""Find the newest failed run of each dataset that a batch touched.

A run without an end counts as failed once its root run has ended. Spark reports the end of a killed
application, but not the end of the write that was running. The failure has the time of the run's
last event: an end that arrives late is newer, and replaces it.
"""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.upsert import Fold, at_the_later, greatest, upsert
from slis.stream.touch import FAILURE

NEVER_ENDED = "it never ended, though its application did"
FAILURE_FOLDS: dict[str, Fold] = {
    "last_failed_run_id": at_the_later("last_failed_at", ties=greatest),
    "last_failure": at_the_later("last_failed_at", ties=greatest),
    "last_failed_at": greatest,
}
_FAILED = """
    SELECT dataset_key, failed_at AS last_failed_at, run_id AS last_failed_run_id,
        failure AS last_failure, 0 AS writes, 0 AS learned_writes
    FROM (
        SELECT dataset_key, failed_at, run_id, failure, row_number() OVER (
            PARTITION BY dataset_key ORDER BY failed_at DESC, run_id DESC) AS place
        FROM t_touched WHERE direction = 'write' AND failed_at IS NOT NULL
    ) AS failed WHERE place = 1
"""
# The newest run for each dataset. RDD jobs are left out: the listener never reports their end.
# SQLite keeps the order of a CROSS JOIN: `run_io` is read by its key only, never as a whole. An
# expression has no index: a root run is found by its id, not among all runs of its root.
_ABANDONED = f"""
    SELECT dataset_key, last_event_at AS last_failed_at, run_id AS last_failed_run_id,
        '{NEVER_ENDED}' AS last_failure, 0 AS writes, 0 AS learned_writes
    FROM (
        SELECT d.canonical_key AS dataset_key, r.last_event_at, r.run_id, row_number() OVER (
            PARTITION BY d.canonical_key ORDER BY r.last_event_at DESC, r.run_id DESC) AS place
        FROM (
            SELECT DISTINCT t.root_run_id FROM s_run s JOIN run t ON t.run_key = s.run_key
        ) AS touched
        CROSS JOIN run root CROSS JOIN run r CROSS JOIN run_io io CROSS JOIN dataset d
        WHERE root.run_id = touched.root_run_id AND root.root_run_id || '' = root.run_id
            AND coalesce(root.completed_at, root.failed_at) IS NOT NULL
            AND r.root_run_id = root.run_id AND r.run_key <> root.run_key
            AND r.started_at IS NOT NULL AND r.completed_at IS NULL AND r.failed_at IS NULL
            AND r.last_event_at <= coalesce(root.completed_at, root.failed_at)
            AND coalesce(r.job_type, '') <> 'RDD_JOB'
            AND io.run_key = r.run_key AND io.direction = 'write'
            AND d.dataset_key = io.dataset_key
    ) AS abandoned WHERE place = 1
"""  # noqa: S608 - words of ours
# The stored failure is outdated: its run completed, was started again, or failed at another time.
_WITHDRAWN = text("""
    SELECT DISTINCT t.dataset_key FROM t_touched t
    JOIN dataset_activity a ON a.dataset_key = t.dataset_key AND a.last_failed_run_id = t.run_id
    WHERE t.direction = 'write' AND (t.failed_at IS NULL OR t.failed_at <> a.last_failed_at)
""")
_FORGET = text("""
    UPDATE dataset_activity SET last_failed_at = NULL, last_failed_run_id = NULL,
        last_failure = NULL
    WHERE dataset_key = :key
""")
_FAILED_BEFORE = f"""
    SELECT d.canonical_key AS dataset_key, r.failed_at AS last_failed_at,
        r.run_id AS last_failed_run_id, {FAILURE} AS last_failure, 0 AS writes, 0 AS learned_writes
    FROM dataset d JOIN run_io io ON io.dataset_key = d.dataset_key AND io.direction = 'write'
    JOIN run r ON r.run_key = io.run_key AND r.failed_at IS NOT NULL
    WHERE d.canonical_key = :key ORDER BY r.failed_at DESC, r.run_id DESC LIMIT 1
"""  # noqa: S608 - words of ours


def store_failures(connection: Connection) -> None:
    """Store in `dataset_activity` the newest failed run of each dataset that the batch touched.

    The result does not depend on the order of events: an outdated failure is computed again.
    """
    for (key,) in connection.execute(_WITHDRAWN).all():
        connection.execute(_FORGET, {"key": key})
        _store(connection, _FAILED_BEFORE, {"key": key})
    _store(connection, _FAILED, {})
    _store(connection, _ABANDONED, {})


def _store(connection: Connection, query: str, given: dict[str, int]) -> None:
    kept = "writes learned_writes"
    upsert(connection, tables.dataset_activity, query, FAILURE_FOLDS, keeps=kept, given=given)
