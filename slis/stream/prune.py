"""Hourly deletion of rows that are past their retention, in small transactions."""

from datetime import datetime, timedelta

import structlog

from lineage.catalog.deleting import delete_old, delete_where, note_retention, retention_time
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import RUNS_KEPT_SINCE
from lineage.catalog.upsert import greatest
from lineage.process.clock import to_micros
from slis.lake import retention
from slis.lake.writer import LakeWriter
from slis.meta import put_meta
from slis.settings import PipelineSettings

log = structlog.get_logger(__name__)

# The newest of each dataset stay, whatever their age says of the rest, and its first.
_SURPLUS_WRITES = """
    (dataset_key, root_run_id, bucket) IN (
        SELECT dataset_key, root_run_id, bucket FROM (
            SELECT dataset_key, root_run_id, bucket,
                row_number() OVER (PARTITION BY dataset_key ORDER BY written_at DESC) AS place,
                written_at > min(written_at) OVER (PARTITION BY dataset_key) AS is_later
            FROM dataset_write
        ) AS placed WHERE place > :kept AND is_later
    )
"""


def prune_lake_and_catalog(
    writer: LakeWriter, settings: PipelineSettings, now: datetime, *, lake_days: int
) -> None:
    """Delete what is too old from lake and catalog; the lake first, where most of the room is.

    Args:
        writer: of the lake, beside the catalog.
        settings: how long the catalog keeps what.
        now: by the pipeline's clock.
        lake_days: how long the lake keeps events: the policy's `retention_days`.

    Raises:
        OSError: a folder of the lake could not be deleted.
    """
    engine = writer.engine
    with engine.connect() as connection:
        at = retention_time(connection, now)
    if at != now:
        log.warning("retention_behind_clock", retention=at.isoformat(), clock=now.isoformat())
    try:
        retention.date_back(writer, at.date())
        kept_from = (at - timedelta(days=lake_days)).date()
        folders = retention.forget(writer, kept_from, now)
        retention.delete_hidden(writer, now)
        retention.delete_unknown(writer, now, kept_from)
    finally:
        deleted = delete_old(engine, "pipeline", at, settings.days, exclusive_transaction)
    kept = {"kept": settings.writes_a_dataset}
    deleted["surplus"] = delete_where(
        engine, "dataset_write", _SURPLUS_WRITES, kept, exclusive_transaction
    )
    with exclusive_transaction(engine) as connection:
        note_retention(connection, at)
        since = at - timedelta(days=settings.write_days)
        put_meta(connection, {RUNS_KEPT_SINCE: f"{max(0, to_micros(since)):016d}"}, greatest)
    log.info("retention", lake_folders=folders, rows=deleted)
