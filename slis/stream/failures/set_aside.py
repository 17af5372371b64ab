"""Setting aside of one event that fails by itself, so that the events behind it land.

Whether it fails by itself shows a control event, which is known to land. The body of an event that
is set aside is in the lake, as that of any event; what it says reaches no other table.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec
import pyarrow as pa
from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.names.keys import NAME_BYTES, shorten
from lineage.origins import OF_HISTORY
from lineage.process.clock import Clock, to_micros
from lineage.redaction import redact
from slis.lake.batches import as_received, write_raw
from slis.lake.names import BATCH
from slis.lake.writer import LakeWriter
from slis.made_up_events import make_events
from slis.settings import SharedPaths
from slis.stream.batch import Batches, Beside, write_nothing
from slis.stream.log.spool_reader import SPOOL_COLUMNS
from slis.stream.merge.merge import (
    LogRange,
    MergeStep,
    advance_cursor,
    is_landed,
    record_batch,
    store_nothing,
)

_SEED = 8_700

SET_ASIDE = "set_aside"
_NAMES: Final = {
    "producer": ("producer",),
    "job_namespace": ("job", "namespace"),
    "job_name": ("job", "name"),
    "run_id": ("run", "runId"),
}


def control_event(after_seq: int, at: datetime) -> pa.Table:
    """Return the event as a batch behind `after_seq`, received at that time."""
    [(_, body)] = make_events(1, seed=_SEED, start=at, apart=timedelta(0))
    seq = after_seq + 1
    row = [seq, to_micros(at), "http", "run", body, after_seq, seq]
    return pa.table([[value] for value in row], schema=SPOOL_COLUMNS)


def try_control_event(
    batches: Batches, place: SharedPaths, log_range: LogRange, at: datetime
) -> None:
    """Do all that lands a good event in place of the one of the range, and leave nothing of it.

    Raises:
        Exception: it fails as well, so that the event of the range is not what is wrong.
    """
    batches.rehearse(control_event(log_range.after_seq, at), place.control_lake)


def set_event_aside(  # noqa: PLR0913, PLR0917 - what a batch takes
    writer: LakeWriter,
    log_range: LogRange,
    events: pa.Table,
    error: str,
    clock: Clock,
    store: MergeStep = store_nothing,
    beside: Beside = write_nothing,
) -> None:
    """Record the one event of the range with its error, and go on behind it.

    Args:
        writer: of the lake, which gets the raw event.
        log_range: holds this event alone.
        events: the event, or none: a record of a log need not be one.
        error: by which it failed.
        clock: gives `failed_at`.
        store: writes the position of the log.
        beside: writes what belongs to the event to its folder.
    """
    if not events.num_rows:
        writer.pass_over(store)
        return
    writer.try_delete_failed()
    [event] = events.to_pylist()
    with writer.folder(BATCH, log_range.after_seq + 1, log_range.last_seq) as name:
        folders = write_raw(as_received(events), writer.lake, name)
        beside(writer.lake, name)
        with writer.turn() as connection:
            if is_landed(connection, log_range):
                writer.give_up(name)
                return
            writer.commit(connection, folders)
            _record(connection, log_range, event, error, to_micros(clock()))
            store(connection)


def set_aside_again(
    writer: LakeWriter, log_range: LogRange, events: pa.Table, error: str, clock: Clock
) -> None:
    """Record an event that readers of the lake see already, as `set_event_aside` does."""
    [event] = events.to_pylist()
    with writer.turn() as connection:
        if not is_landed(connection, log_range):
            _record(connection, log_range, event, error, to_micros(clock()))


def names_in(body: bytes) -> dict[str, str | None]:
    """Return the producer, job and run of an event, as far as its body has them."""
    try:
        event = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        event = None
    return {column: _name_at(event, path) for column, path in _NAMES.items()}


def _name_at(value: object, path: tuple[str, ...]) -> str | None:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, str):
        return None
    return shorten(_storable(value), NAME_BYTES) or None


def _storable(text: str) -> str:
    """Return the text without secrets, and without what PostgreSQL does not store."""
    # A NUL or half a surrogate pair may be what the event failed by.
    return redact(text.replace("\0", "").encode(errors="replace").decode())


def _record(
    connection: Connection, log_range: LogRange, event: dict[str, object], error: str, at: int
) -> None:
    body = bytes(event["body"])  # type: ignore[call-overload]
    is_history = event["origin"] in OF_HISTORY
    error = _storable(error)
    row = {name: event[name] for name in ("received_at", "origin", "kind")} | names_in(body)
    connection.execute(
        tables.event_set_aside.insert(),
        {**row, "spool_seq": event["seq"], "bytes": len(body), "error": error, "failed_at": at},
    )
    failed = {"reason": SET_ASIDE, "detail": error, "is_history": is_history, "landed_at": at}
    connection.execute(tables.pipeline_error.insert(), {"spool_seq": event["seq"], **failed})
    record_batch(connection, log_range, events=1, history=int(is_history), landed_at=at)
    advance_cursor(connection, log_range.last_seq)
