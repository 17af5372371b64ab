"""Once a day: what is past its retention goes, in small transactions, and the lake is compacted."""

from datetime import datetime, timedelta

from sqlalchemy import Engine, text

from lineage.catalog.engine import in_turn
from lineage.clock import to_micros
from lineage.names import FOLD
from slis.settings import Place, Settings
from slis.stream import lake
from slis.stream.merge import cursor

# A table that was written once, years ago, is read today: its reads have an origin.
_NOT_FIRST = """
    written_at > (SELECT min(w.written_at) FROM dataset_write w
        WHERE w.dataset_key = dataset_write.dataset_key)
"""
_BY_AGE = {
    "event": "event_time < :before",
    "pipeline_error": "landed_at < :before",
    "batch": "landed_at < :before AND last_seq < (SELECT seq FROM reader_cursor"
    " WHERE reader = 'pipeline')",
    "dataset_read": "read_at < :before AND counted_at IS NOT NULL",
    "edge_run": "seen_at < :before",
    "edge_told": "seen_at < :before",  # of a run that never wrote what it told of
    "sql_run": "seen_at < :before",  # of a run that never ended
    "sql_text": "last_seen_at < :before",
    "dataset_write": f"written_at < :before AND {_NOT_FIRST}",
    "run": "last_event_at < :before",
    "run_io": "last_event_at < :before",
    # A file that is written to again is read again, and says the same.
    "execution_io": "execution_key IN ("
    "SELECT execution_key FROM execution WHERE started_at < :before"
    " UNION SELECT stream_key FROM execution WHERE started_at < :before)",
    "execution": "started_at < :before",
    "evidence_stage": "at < :before",
    "application": "started_at < :before",
    "evidence_file": "modified_at < :before",
    "edge_check": "checked_at < :before",
    # Names that the policy folds are endless; those that were datasets once are links as well.
    "dataset_alias": f"rule = '{FOLD}' AND last_seen_at < :before",
    "dataset_version": "last_seen_at < :before",
    "dataset_checksum": "last_seen_at < :before",
    "dataset_assertion": "coalesce(last_failed_at, 0) < :before"
    " AND coalesce(last_passed_at, 0) < :before",
    # The newest stays: of an empty table SQLite would give the numbers once more.
    "audit": "at < :before AND id < (SELECT max(id) FROM audit)",
}
# The newest of each dataset stay, whatever their age says of the rest, and its first.
_SURPLUS_WRITES = """
    DELETE FROM dataset_write WHERE (dataset_key, root_run_id, bucket) IN (
        SELECT dataset_key, root_run_id, bucket FROM (
            SELECT dataset_key, root_run_id, bucket,
                row_number() OVER (PARTITION BY dataset_key ORDER BY written_at DESC) AS place,
                written_at > min(written_at) OVER (PARTITION BY dataset_key) AS is_later
            FROM dataset_write
        ) AS placed WHERE place > :kept AND is_later
    )
"""


def prune(
    engine: Engine, place: Place, settings: Settings, now: datetime, *, lake_days: int
) -> None:
    """Delete what is too old from catalog and lake, and compact the lake.

    Args:
        engine: of the catalog.
        place: of the lake.
        settings: how long the catalog keeps what.
        now: by the pipeline's clock.
        lake_days: how long the lake keeps events: the policy's `retention_days`.

    Raises:
        OSError: the lake could not be rewritten; nothing of it is lost.
    """
    days = dict.fromkeys(("event", "pipeline_error", "edge_told", "sql_run"), settings.event_days)
    days["audit"] = settings.audit_days
    for table, condition in _BY_AGE.items():
        before = to_micros(now - timedelta(days=days.get(table, settings.write_days)))
        with in_turn(engine) as connection:
            statement = f"DELETE FROM {table} WHERE {condition}"  # noqa: S608 - our own tables
            connection.execute(text(statement), {"before": before})
    with in_turn(engine) as connection:
        connection.execute(text(_SURPLUS_WRITES), {"kept": settings.writes_a_dataset})
    with engine.connect() as connection:
        committed = cursor(connection)
    lake.compact(place.lake, committed)
    lake.forget(place.lake, (now - timedelta(days=lake_days)).date().isoformat())
