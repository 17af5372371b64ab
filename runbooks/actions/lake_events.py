"""Raw events out of the lake: of a span of time, or of one run.

Arrow comes with the first of them (`lineage.lake.events` says why).
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Engine, func, select

from lineage import lake
from lineage.catalog.tables import reader_cursor, run
from lineage.clock import from_micros
from runbooks.actions.errors import FailedActionError
from runbooks.actions.means import Means

_COLUMNS = ["seq", "origin", "body"]
_DAY = timedelta(days=1)


class Event(msgspec.Struct, frozen=True):
    """An event as it came, to the byte."""

    seq: int
    origin: str
    body: bytes


class Span(msgspec.Struct, frozen=True):
    """From an instant, and up to but without another, by the producers' clocks; in UTC."""

    begin: datetime
    end: datetime


def count_of_span(means: Means, span: Span) -> dict[str, int]:
    """How many events of each origin the lake has of it; no body is read."""
    import pyarrow.compute as pc  # noqa: PLC0415

    source = _source(means)
    if source is None:
        return {}
    table = _reading(lambda: source.to_table(columns=["origin"], filter=_within(span)))
    counts = pc.value_counts(table["origin"]).to_pylist()
    return {str(row["values"]): int(row["counts"]) for row in counts}


def events_of_span(means: Means, span: Span) -> Iterator[Event]:
    """Its events, folder by folder: order and repeats make no difference to what is made of them.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    yield from _events(means, _within(span))


def events_of_run(means: Means, run_id: str) -> Iterator[Event]:
    """Events of a run, and of the runs of which it is the parent or the root.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    about = pc.match_substring(ds.field("body"), pattern=run_id)
    span = _span_of(means.engine, run_id)
    found = _events(means, about if span is None else about & _within(span))
    yield from (event for event in found if _is_of(event.body, run_id))


def body_of(means: Means, seq: int, day: date) -> bytes | None:
    """Return the body of one event, by its number in the spool; None where the lake has it no more.

    Args:
        means: with the lake.
        seq: of the event.
        day: in whose folder the event is.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    import pyarrow.dataset as ds  # noqa: PLC0415

    is_it = (ds.field("event_date") == day.isoformat()) & (ds.field("seq") == seq)
    return next((event.body for event in _events(means, is_it)), None)


def _events(means: Means, wanted: Any) -> Iterator[Event]:  # noqa: ANN401 - pyarrow has no types
    source = _source(means)
    if source is None:
        return
    batches = iter(source.to_batches(columns=_COLUMNS, filter=wanted))
    while (batch := _reading(lambda: next(batches, None))) is not None:
        yield from (Event(row["seq"], row["origin"], row["body"]) for row in batch.to_pylist())


def _source(means: Means) -> Any:  # noqa: ANN401 - as above
    with means.engine.connect() as connection:
        of_pipeline = reader_cursor.c.reader == "pipeline"
        committed = connection.scalar(select(reader_cursor.c.seq).where(of_pipeline))
    found = lake.folders(means.lake, committed or 0)
    return _reading(lambda: lake.events(found)) if found else None


def _reading(read: Any) -> Any:  # noqa: ANN401 - as above
    try:
        return read()
    except FileNotFoundError as error:
        message = "the lake was compacted while it was read: ask again, nothing is repeated by that"
        raise FailedActionError(message) from error


def _within(span: Span) -> Any:  # noqa: ANN401 - as above
    """As the lake's folders are named, so that other days are not opened; then to the instant."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    instant = pa.timestamp("us", tz="UTC")
    date = ds.field("event_date")
    days = (date >= span.begin.date().isoformat()) & (date <= span.end.date().isoformat())
    at = pc.coalesce(ds.field("event_time"), ds.field("received_at")).cast(instant, safe=False)
    begin, end = (pa.scalar(each, type=instant) for each in (span.begin, span.end))
    return days & (at >= begin) & (at < end)


def _span_of(engine: Engine, run_id: str) -> Span | None:
    """When the catalog has seen it; None: it knows nothing of it, and all days are looked at."""
    is_it = (run.c.run_id == run_id) | (run.c.root_run_id == run_id)
    bounds = select(func.min(run.c.first_event_at), func.max(run.c.last_event_at)).where(is_it)
    with engine.connect() as connection:
        first, last = connection.execute(bounds).one()
    if first is None:
        return None
    # A clock that ran ahead was set back to when its event came; the lake has it as it was.
    return Span(from_micros(first) - _DAY, from_micros(last) + _DAY)


def _is_of(body: bytes, run_id: str) -> bool:
    try:
        event = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    parent = ("run", "facets", "parent")
    places = (("run",), (*parent, "run"), (*parent, "root", "run"))
    return any(at(event, *place, "runId") == run_id for place in places)


def at(value: Any, *path: str) -> Any:  # noqa: ANN401 - JSON of anybody's
    """What stands there in JSON; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
