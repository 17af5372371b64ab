"""Events that are in neither lake nor spool: which, and when they were received."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import structlog
from sqlalchemy import Engine

from lineage.catalog.engine import in_turn
from lineage.catalog.tables import ingestion_gap
from lineage.catalog.upsert import fold_rows
from lineage.clock import instant_text
from lineage.lake import every, uncovered
from slis.settings import Place
from slis.stream.source import open_spool

log = structlog.get_logger(__name__)


def note_missing(engine: Engine, place: Place, first_seq: int, last_seq: int) -> None:
    """Log a range of events that cannot be landed, and keep its time as an ingestion gap.

    What fell due in the gap is unknown then, as where the collector was silent.
    """
    started = _received_before(place.lake, first_seq)
    ended = _received_after(place, last_seq)
    log.error(
        "events_missing",
        first_seq=first_seq,
        last_seq=last_seq,
        received_after=None if started is None else instant_text(started),
        received_before=None if ended is None else instant_text(ended),
        reason="neither the spool nor the lake holds these events any more",
    )
    if started is not None and ended is not None:
        row = {"started_at": started, "ended_at": max(started, ended)}
        with in_turn(engine) as connection:
            fold_rows(connection, ingestion_gap, [row])


def _received_before(lake: Path, seq: int) -> int | None:
    before = [folder for folder in uncovered(every(lake)) if folder.first_seq < seq]
    found = (_received(one.path, ds.field("seq") < seq, max) for one in reversed(before))
    return next((at for at in found if at is not None), None)


def _received_after(place: Place, seq: int) -> int | None:
    after = [folder for folder in uncovered(every(place.lake)) if folder.last_seq > seq]
    found = (_received(one.path, ds.field("seq") > seq, min) for one in after)
    in_lake = next((at for at in found if at is not None), None)
    with closing(open_spool(place.spool)) as spool:
        in_spool = _first_in_spool(spool, seq)
    return min((at for at in (in_lake, in_spool) if at is not None), default=None)


def _first_in_spool(spool: sqlite3.Connection, seq: int) -> int | None:
    query = "SELECT received_at FROM event WHERE seq > ? ORDER BY seq LIMIT 1"
    row = spool.execute(query, (seq,)).fetchone()
    return None if row is None else int(row[0])


def _received(folder: Path, wanted: ds.Expression, which: Callable[..., int]) -> int | None:
    """When the first or the last event of a folder that is wanted was received, in µs."""
    dataset = ds.dataset(folder, format="parquet")
    if "received_at" not in dataset.schema.names:
        return None  # all of its days were deleted
    found = dataset.to_table(columns=["received_at"], filter=wanted)["received_at"]
    instants = pc.drop_null(found.cast(pa.timestamp("us", "UTC")).cast(pa.int64()))
    return which(instants.to_pylist()) if len(instants) else None
