"""Merge of a batch into the catalog: all of it in one transaction, exactly once."""

import time
from collections.abc import Callable
from contextlib import suppress

import msgspec
import structlog
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import IntegrityError

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.upsert import insert_for, newest, upsert
from lineage.process.clock import Clock, to_micros
from slis.stream.derived.derive_facts import holds_news
from slis.stream.merge.facts_of_batch import merge_facts_of_batch
from slis.stream.merge.merge_events import STAGED, StoredEvents, store_events
from slis.stream.merge.repeats import find_repeats, staged_columns
from slis.stream.staging import staging
from slis.stream.staging.staging import StagedRows

log = structlog.get_logger(__name__)

READER = "pipeline"
MergeStep = Callable[[Connection], None]  # writes what goes with a batch, in its transaction


class LogRange(msgspec.Struct, frozen=True):
    """Events (after_seq, last_seq] of the log, as batch `batch_id` of `query_id`."""

    query_id: str
    batch_id: int
    after_seq: int
    last_seq: int


class MergeResult(msgspec.Struct, frozen=True):
    """Result of a merge.

    Attributes:
        events: that the batch held.
        duplicates: of them, known before.
        is_repeat: the catalog had the batch, nothing was done.
        merge_seconds: for which nothing else could write to the catalog.
        is_news: it has a failure, or what is written was neither good nor learning before.
    """

    events: int = 0
    duplicates: int = 0
    is_repeat: bool = False
    merge_seconds: float = 0.0
    is_news: bool = False


class _UndoneError(Exception):
    """End of a transaction that is to leave nothing."""


class RangeMismatchError(Exception):
    """Batch that neither continues what the catalog holds nor repeats a part of it.

    Going on would skip or double events.
    """


def cursor(connection: Connection) -> int:
    """Return the last `seq` that the catalog holds; 0 where it holds none."""
    table = tables.reader_cursor
    found = connection.scalar(select(table.c.seq).where(table.c.reader == READER))
    return found or 0


def is_landed(connection: Connection, log_range: LogRange) -> bool:
    """Return whether the catalog holds the whole range already.

    A range that follows the last one is not held.

    Raises:
        RangeMismatchError: the range does neither.
    """
    at = cursor(connection)
    if log_range.after_seq == at:
        return False
    batch = tables.batch
    same = select(batch.c.batch_id).where(
        batch.c.after_seq == log_range.after_seq, batch.c.last_seq == log_range.last_seq
    )
    if log_range.last_seq <= at and connection.execute(same).first() is not None:
        return True
    message = (
        f"batch {log_range.batch_id} holds the events {log_range.after_seq + 1} to "
        f"{log_range.last_seq} of the log, "
        f"but the catalog ends at {at} and has no such batch: another pipeline landed events, or "
        "the catalog was restored meanwhile. Going on would skip or double events. Make sure that "
        "one pipeline runs, and start it again: it works on from where the catalog ends."
    )
    raise RangeMismatchError(message)


def store_nothing(_connection: Connection) -> None:
    """Write nothing: the cursor is the whole position of the log."""


def merge(
    engine: Engine,
    log_range: LogRange,
    rows: StagedRows,
    clock: Clock,
    store: MergeStep = store_nothing,
) -> MergeResult:
    """Merge a batch's facts and record it.

    Args:
        engine: of the catalog.
        log_range: what the batch holds.
        rows: by staging table: the columns and their values.
        clock: gives `landed_at`.
        store: writes what is committed with the batch, as the position of the log and the rows of
            the lake, or fails.

    A run that the catalog does not know has no other rows there, as a rule. Where that is wrong,
    the batch is merged again with a look for each row.
    """
    try:
        return _merge(engine, log_range, rows, clock, store, finds_remains=False)
    except IntegrityError as error:
        log.warning("merge_repeated", reason=str(error.orig))
        return _merge(engine, log_range, rows, clock, store, finds_remains=True)


def _merge(  # noqa: PLR0913 - the last one by name
    engine: Engine,
    log_range: LogRange,
    rows: StagedRows,
    clock: Clock,
    store: MergeStep,
    *,
    finds_remains: bool,
) -> MergeResult:
    with exclusive_transaction(engine) as connection:
        began = time.monotonic()
        if is_landed(connection, log_range):
            return MergeResult(is_repeat=True)
        store(connection)
        landed = _merge_rows(connection, log_range, rows, clock, finds_remains=finds_remains)
        is_news = holds_news(connection)
        return replace(landed, merge_seconds=time.monotonic() - began, is_news=is_news)


def rehearse(engine: Engine, log_range: LogRange, rows: StagedRows, clock: Clock) -> None:
    """Do all that `merge` does, and undo it.

    Raises:
        Exception: what `merge` would have failed by.
    """
    with suppress(_UndoneError), exclusive_transaction(engine) as connection:
        _merge_rows(connection, log_range, rows, clock, finds_remains=True)
        raise _UndoneError


def _merge_rows(
    connection: Connection,
    log_range: LogRange,
    rows: StagedRows,
    clock: Clock,
    *,
    finds_remains: bool,
) -> MergeResult:
    staging.create(connection)
    # Most events are stored without it.
    staging.fill(connection, {table: of for table, of in rows.items() if table != STAGED})
    repeats = find_repeats(rows)
    merge_facts_of_batch(connection, to_micros(clock()), repeats, finds_remains=finds_remains)
    # The last statements, so that what they call the commit is close to it.
    at = to_micros(clock())
    stored = store_events(
        connection, rows, landed_at=at, last_seq=log_range.last_seq, has_repeats=repeats.events
    )
    _record_failed(connection, rows, at)
    return _record(connection, log_range, len(rows[STAGED][1]), stored, at)


def _record_failed(connection: Connection, rows: StagedRows, landed_at: int) -> None:
    found = staged_columns(rows, STAGED, "seq", "problem", "detail", "is_history")
    failed = [
        {
            "spool_seq": seq,
            "reason": problem,
            "detail": detail,
            "is_history": is_history == 1,
            "landed_at": landed_at,
        }
        for seq, problem, detail, is_history in found
        if problem is not None
    ]
    if failed:
        once = insert_for(connection.dialect)(tables.pipeline_error).on_conflict_do_nothing()
        connection.execute(once, failed)


def _record(
    connection: Connection,
    log_range: LogRange,
    events: int,
    stored: StoredEvents,
    landed_at: int,
) -> MergeResult:
    landed = MergeResult(events=events, duplicates=events - stored.new - stored.unreadable)
    record_batch(
        connection,
        log_range,
        events=landed.events,
        duplicates=landed.duplicates,
        history=stored.history,
        landed_at=landed_at,
    )
    advance_cursor(connection, log_range.last_seq)
    return landed


def record_batch(  # noqa: PLR0913 - the columns, by name
    connection: Connection,
    log_range: LogRange,
    *,
    events: int,
    landed_at: int,
    duplicates: int = 0,
    history: int = 0,
) -> None:
    """Write the row by which a repeat of the range is known."""
    counts = {"events": events, "duplicates": duplicates, "history": history}
    row = {**msgspec.structs.asdict(log_range), **counts, "landed_at": landed_at}
    connection.execute(tables.batch.insert(), row)


def advance_cursor(connection: Connection, seq: int) -> None:
    """Note that all events up to and with `seq` are in the catalog."""
    upsert(
        connection,
        tables.reader_cursor,
        "SELECT :reader AS reader, :seq AS seq WHERE 1 = 1",
        {"seq": newest},
        given={"reader": READER, "seq": seq},
    )
