"""Newest failed run of each dataset that a batch touched.

A run without an end counts as failed once its root run has ended, and it cannot go on without it.
Spark reports the end of a killed application, but not that of the write that was running. The
failure has the time of the run's last event: an end that arrives late is newer, and replaces it.
"""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.queries import has_direction
from lineage.catalog.run_ends import is_abandoned_by, is_ended_by, is_without_end
from lineage.catalog.upsert import ColumnFold, at_the_later, count_changed, greatest, upsert
from lineage.states import NEVER_ENDED
from slis.stream.derived.contributions import FAILURE
from slis.stream.merge.known_runs import WITHIN, range_bounds

FAILURE_FOLDS: dict[str, ColumnFold] = {
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
# Of the root runs of the batch those that have ended: found once, so that PostgreSQL does not read
# all runs for them in each of the queries below. An expression has no index: a root run is found by
# its id, not among all runs of its root.
_STORE_ENDED = text("""
    INSERT INTO t_ended_root (run_key)
    SELECT run_key FROM t_run
    WHERE run_id = root_run_id AND coalesce(completed_at, failed_at) IS NOT NULL
    UNION ALL
    SELECT root.run_key FROM t_known_root k CROSS JOIN run root
    WHERE root.run_id = k.root_run_id AND root.root_run_id || '' = root.run_id
        AND coalesce(root.completed_at, root.failed_at) IS NOT NULL
""")
# PostgreSQL looks in the partitions of the root ids that the batch names, where it names them all:
# a known run may have a root that only its START named.
_STORE_ENDED_WITHIN = text(f"{_STORE_ENDED.text} {WITHIN.format(row='root')}")
_ROOT_DAYS = "SELECT min(root_day), max(root_day) FROM t_known_root WHERE root_day <> 0"
_ANY_UNNAMED = text("SELECT 1 FROM t_known_root WHERE root_day IS NULL LIMIT 1")
# These, and a run `r` of one that was still running then. SQLite keeps the order of a CROSS JOIN:
# `run_io` is read by its key only, never as a whole.
# Of DISTINCT keys PostgreSQL expects 200, and looks runs up.
_ENDED_ROOTS = "(SELECT DISTINCT run_key FROM t_ended_root) AS ended CROSS JOIN run root"
_IS_ENDED = "root.run_key = ended.run_key"
_IS_ABANDONED = f"r.root_run_id = root.run_id AND {is_without_end()} AND {is_abandoned_by('root')}"
# The newest run for each dataset.
_ABANDONED = f"""
    SELECT dataset_key, last_event_at AS last_failed_at, run_id AS last_failed_run_id,
        '{NEVER_ENDED}' AS last_failure, 0 AS writes, 0 AS learned_writes
    FROM (
        SELECT d.canonical_key AS dataset_key, r.last_event_at, r.run_id, row_number() OVER (
            PARTITION BY d.canonical_key ORDER BY r.last_event_at DESC, r.run_id DESC) AS place
        FROM {_ENDED_ROOTS} CROSS JOIN run r CROSS JOIN run_io io CROSS JOIN dataset d
        WHERE {_IS_ENDED} AND {_IS_ABANDONED} AND io.run_key = r.run_key
            AND {has_direction("write")} AND d.dataset_key = io.dataset_key
    ) AS abandoned WHERE place = 1
"""  # noqa: S608 - words of ours
# Datasets `d` that a run `c` of the root run has created.
# Few runs create a dataset: by an index on that, PostgreSQL would look for them among all runs.
_CREATED = f"""
    c.root_run_id = {{root}} AND c.completed_at + 0 IS NOT NULL
    AND io.run_key = c.run_key AND {has_direction("write")}
    AND coalesce(io.lifecycle, '') = 'CREATE' AND d.dataset_key = io.dataset_key
"""
# Some runs name what they write at their end only (Delta's MERGE). One that names nothing and never
# ended was to write what its application has created last before, if nobody wrote that.
_UNNAMED = f"""
    SELECT root_run_id, parent_run_id, started_at, last_event_at, run_id FROM (
        SELECT r.root_run_id, r.parent_run_id, r.started_at, r.last_event_at, r.run_id,
            row_number() OVER (
            PARTITION BY r.root_run_id, r.parent_run_id
            ORDER BY r.last_event_at DESC, r.run_id DESC) AS place
        FROM {_ENDED_ROOTS} CROSS JOIN run r
        WHERE {_IS_ENDED} AND {_IS_ABANDONED} AND r.integration = 'SPARK'
            AND NOT EXISTS (SELECT 1 FROM run_io x WHERE x.run_key = r.run_key)
    ) AS newest WHERE place = 1
"""  # noqa: S608 - words of ours
# A session may create many tables: at most one of them is the target.
_LAST_CREATED = f"""
    SELECT d.canonical_key AS dataset_key, q.last_event_at, q.run_id, row_number() OVER (
        PARTITION BY q.run_id ORDER BY c.completed_at DESC, d.canonical_key) AS place
    FROM ({_UNNAMED}) AS q CROSS JOIN run c CROSS JOIN run_io io CROSS JOIN dataset d
    WHERE {_CREATED.format(root="q.root_run_id")}
        AND c.parent_run_id = q.parent_run_id AND c.completed_at <= q.started_at
"""  # noqa: S608 - words of ours
_ABANDONED_UNNAMED = f"""
    SELECT dataset_key, last_event_at AS last_failed_at, run_id AS last_failed_run_id,
        '{NEVER_ENDED}' AS last_failure, 0 AS writes, 0 AS learned_writes
    FROM (
        SELECT dataset_key, last_event_at, run_id, row_number() OVER (
            PARTITION BY dataset_key ORDER BY last_event_at DESC, run_id DESC) AS place
        FROM ({_LAST_CREATED}) AS target WHERE place = 1 AND NOT EXISTS (
            SELECT 1 FROM dataset_write w WHERE w.dataset_key = target.dataset_key)
    ) AS created WHERE place = 1
"""  # noqa: S608 - words of ours
# The stored failure is outdated: its run completed, was started again, or failed at another time. A
# run that names nothing is no run of the dataset: whether it fails it is decided again.
# So is whether a run can go on without its root run: its application may be known only now. A run
# that the catalog did not know has no stored failure. PostgreSQL expects few rows with a direction,
# and would look each up in `dataset_activity` first.
_OUTDATED = text("""
    WITH known AS MATERIALIZED (
        SELECT t.dataset_key, t.run_id, t.failed_at, t.direction
        FROM t_known k CROSS JOIN t_touched t WHERE t.run_key = k.run_key)
    SELECT DISTINCT k.dataset_key FROM known k
    JOIN dataset_activity a ON a.dataset_key = k.dataset_key AND a.last_failed_run_id = k.run_id
    WHERE k.direction = 'write' AND (k.failed_at IS NULL OR k.failed_at <> a.last_failed_at)
""")
_OUTDATED_BY_ROOTS = text(f"""
    SELECT a.dataset_key FROM {_ENDED_ROOTS} CROSS JOIN run c CROSS JOIN run_io io
    CROSS JOIN dataset d CROSS JOIN dataset_activity a CROSS JOIN run f
    WHERE {_IS_ENDED} AND {_CREATED.format(root="root.run_id")}
        AND a.dataset_key = d.canonical_key AND f.run_id = a.last_failed_run_id
        AND f.failed_at IS NULL AND f.root_run_id = root.run_id
    UNION
    SELECT a.dataset_key FROM {_ENDED_ROOTS} CROSS JOIN run r CROSS JOIN run_io io
    CROSS JOIN dataset d CROSS JOIN dataset_activity a
    WHERE {_IS_ENDED} AND r.root_run_id = root.run_id
        AND coalesce(r.completed_at, r.failed_at) IS NULL AND NOT ({is_ended_by("root")})
        AND io.run_key = r.run_key AND {has_direction("write")} AND d.dataset_key = io.dataset_key
        AND a.dataset_key = d.canonical_key AND a.last_failed_run_id = r.run_id
""")  # noqa: S608 - words of ours
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
    is_any_ended = _store_ended(connection) > 0
    outdated = set(connection.scalars(_OUTDATED))
    if is_any_ended:
        outdated.update(connection.scalars(_OUTDATED_BY_ROOTS))
    for key in sorted(outdated):
        connection.execute(_FORGET, {"key": key})
        _store(connection, _FAILED_BEFORE, {"key": key})
    _store(connection, _FAILED, {})
    for query in (_ABANDONED, _ABANDONED_UNNAMED) if is_any_ended else ():
        _store(connection, query, {})


def _store_ended(connection: Connection) -> int:
    """Store the root runs of the batch that have ended; return their number."""
    if connection.dialect.name == "sqlite" or connection.execute(_ANY_UNNAMED).first() is not None:
        return count_changed(connection, _STORE_ENDED, None)
    return count_changed(connection, _STORE_ENDED_WITHIN, range_bounds(connection, _ROOT_DAYS))


def _store(connection: Connection, query: str, given: dict[str, int]) -> None:
    kept = "writes learned_writes"
    upsert(connection, tables.dataset_activity, query, FAILURE_FOLDS, keeps=kept, given=given)
