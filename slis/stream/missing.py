"""Events that are in neither lake nor spool: which, and when they were received."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import structlog

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.tables import ingestion_gap
from lineage.catalog.upsert import fold_rows
from lineage.lake.reading import read_events
from lineage.process.clock import instant_text
from slis.lake.listing import LakeBatch
from slis.lake.writer import LakeWriter
from slis.settings import SharedPaths
from slis.stream.source import open_spool

log = structlog.get_logger(__name__)


def note_missing(
    writer: LakeWriter,
    place: SharedPaths,
    found: Sequence[LakeBatch],
    first_seq: int,
    last_seq: int,
) -> None:
    """Log a range of events that cannot be landed, and keep its time as an ingestion gap.

    What fell due in the gap is unknown then, as where the collector was silent.

    Args:
        writer: of the lake.
        place: of the spool.
        found: batches of the lake, in the order of their events.
        first_seq: of the range.
        last_seq: of the range.
    """
    started = _received_before(writer, found, first_seq)
    ended = _received_after(writer, place, found, last_seq)
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
        with exclusive_transaction(writer.engine) as connection:
            fold_rows(connection, ingestion_gap, [row])


def _received_before(writer: LakeWriter, found: Sequence[LakeBatch], seq: int) -> int | None:
    before = [batch for batch in found if batch.name.first_seq < seq]
    times = (_received(writer, one, ds.field("seq") < seq, max) for one in reversed(before))
    return next((at for at in times if at is not None), None)


def _received_after(
    writer: LakeWriter, place: SharedPaths, found: Sequence[LakeBatch], seq: int
) -> int | None:
    after = [batch for batch in found if batch.name.last_seq > seq]
    times = (_received(writer, one, ds.field("seq") > seq, min) for one in after)
    in_lake = next((at for at in times if at is not None), None)
    with closing(open_spool(place.spool)) as spool:
        in_spool = _first_in_spool(spool, seq)
    return min((at for at in (in_lake, in_spool) if at is not None), default=None)


def _first_in_spool(spool: sqlite3.Connection, seq: int) -> int | None:
    query = "SELECT received_at FROM event WHERE seq > ? ORDER BY seq LIMIT 1"
    row = spool.execute(query, (seq,)).fetchone()
    return None if row is None else int(row[0])


def _received(
    writer: LakeWriter, batch: LakeBatch, wanted: ds.Expression, which: Callable[..., int]
) -> int | None:
    """Return when the first or the last event of a batch that is wanted was received, in µs."""
    dataset = read_events(writer.lake, batch.folders)
    found = dataset.to_table(columns=["received_at"], filter=wanted)["received_at"]
    instants = pc.drop_null(found.cast(pa.timestamp("us", "UTC")).cast(pa.int64()))
    return which(instants.to_pylist()) if len(instants) else None
