"""Restore from the lake of what the catalog lacks and the spool no longer has.

A catalog that was restored from a copy, or is new, ends before the events that the spool still
holds. The lake has the events in between. The time of those that it lacks, too, becomes an
ingestion gap.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

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
from slis.stream.log.from_lake import LakeReplay
from slis.stream.log.spool_reader import last_seq_of, open_spool_to_read

log = structlog.get_logger(__name__)


def land_pruned(replay: LakeReplay, place: SharedPaths) -> None:
    """Land what the lake has of the events that the spool has deleted; log what is missing."""
    pruned = pruned_through(place.spool)
    needed = [one for one in replay.found if one.name.first_seq <= max(replay.at, pruned)]
    for batch in needed:
        # Another one may have covered it.
        if batch.name.last_seq > replay.at:
            _note_hole(replay, place, min(batch.name.first_seq - 1, pruned))
            replay.take(batch)
    _note_hole(replay, place, pruned)


def _note_hole(replay: LakeReplay, place: SharedPaths, last_seq: int) -> None:
    if last_seq > replay.at:
        note_missing(replay.writer, place, replay.found, replay.at + 1, last_seq)


def pruned_through(spool: Path) -> int:
    """Return the last `seq` up to which the spool has deleted every event.

    Where the collector did not note it yet, whatever comes before the first event.
    """
    with closing(open_spool_to_read(spool)) as connection:
        try:
            noted = connection.execute("SELECT through_seq FROM pruned").fetchone()
        except sqlite3.OperationalError:  # a spool of an older release
            noted = None
        if noted is not None:
            return int(noted[0])
        first = connection.execute("SELECT min(seq) FROM event").fetchone()[0]
        return last_seq_of(connection) if first is None else int(first) - 1


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
    with closing(open_spool_to_read(place.spool)) as spool:
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
