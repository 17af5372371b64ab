"""Raw events out of the lake: of a span of time, or of one run.

Arrow comes with the first of them (`lineage.lake.reading` says why).
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import Engine, func, select

from lineage.catalog.tables import run
from lineage.lake.manifest import FIRST_DAY, LAST_DAY, Folder, list_folders, query_function
from lineage.lake.reading import FILES_ABSENT, LakeChangedError, is_absent, read_again, read_events
from lineage.process.clock import from_micros
from runbooks.actions.action import ActionContext
from runbooks.actions.errors import FailedActionError

_COLUMNS = ["seq", "origin", "body"]
_DAY = timedelta(days=1)
_TRIES = 3


class LakeEvent(msgspec.Struct, frozen=True):
    """Event as it was sent, to the byte."""

    seq: int
    origin: str
    body: bytes


class Span(msgspec.Struct, frozen=True):
    """Range of time by the producers' clocks, without its end; in UTC."""

    begin: datetime
    end: datetime


class _Wanted(msgspec.Struct, frozen=True):
    """Events to read.

    Attributes:
        where: filter of pyarrow.
        first_day: other days are not opened.
        last_day: with this day.
    """

    where: Any
    first_day: str = FIRST_DAY
    last_day: str = LAST_DAY


def count_of_span(context: ActionContext, span: Span) -> dict[str, int]:
    """Return how many events of each origin the lake has of it; no body is read.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    import pyarrow.compute as pc  # noqa: PLC0415

    wanted = _of_span(span)
    try:
        table = read_again(
            lambda: _list(context, wanted),
            lambda folders: read_events(context.lake, folders).to_table(
                columns=["origin"], filter=wanted.where
            ),
        )
    except LakeChangedError as error:
        raise FailedActionError(FILES_ABSENT) from error
    counts = pc.value_counts(table["origin"]).to_pylist()
    return {str(row["values"]): int(row["counts"]) for row in counts}


def events_of_span(context: ActionContext, span: Span) -> Iterator[LakeEvent]:
    """Return its events, batch by batch.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    yield from _events(context, _of_span(span))


def events_of_run(context: ActionContext, run_id: str) -> Iterator[LakeEvent]:
    """Return events of a run, and of the runs of which it is the parent or the root.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    about = pc.match_substring(ds.field("body"), pattern=run_id)
    span = _span_of(context.engine, run_id)
    wanted = _Wanted(about) if span is None else _of_span(span, about)
    yield from (event for event in _events(context, wanted) if _is_of(event.body, run_id))


def event_body(context: ActionContext, seq: int, day: date) -> bytes | None:
    """Return the body of one event, by its number in the spool; None where the lake has it no more.

    Args:
        context: with the lake.
        seq: of the event.
        day: in whose folder the event is.

    Raises:
        FailedActionError: the lake was compacted meanwhile.
    """
    import pyarrow.dataset as ds  # noqa: PLC0415

    wanted = _Wanted(ds.field("seq") == seq, day.isoformat(), day.isoformat())
    return next((event.body for event in _events(context, wanted)), None)


def _events(context: ActionContext, wanted: _Wanted) -> Iterator[LakeEvent]:
    """Yield events, each once: by the manifest of now, where a folder vanished meanwhile."""
    done_to, tries = 0, 0
    seen: set[int] = set()  # of the batch that is being read
    while True:
        try:
            for last_seq, folders in _batches(context, wanted, done_to):
                for event in _of_folders(context, folders, wanted):
                    if event.seq > done_to and event.seq not in seen:
                        seen.add(event.seq)
                        yield event
                done_to = last_seq
                seen.clear()
        except OSError as error:
            tries += 1
            if not is_absent(error):
                raise
            if tries == _TRIES:
                raise FailedActionError(FILES_ABSENT) from error
        else:
            return


def _batches(
    context: ActionContext, wanted: _Wanted, behind: int
) -> Iterator[tuple[int, list[Folder]]]:
    """Yield the folders of each batch with events behind this one, and the last it may hold."""
    for _, group in groupby(_list(context, wanted), key=lambda folder: folder.batch):
        folders = list(group)
        if folders[0].last_seq > behind:
            yield folders[0].last_seq, folders


def _of_folders(
    context: ActionContext, folders: list[Folder], wanted: _Wanted
) -> Iterator[LakeEvent]:
    source = read_events(context.lake, folders)
    for batch in source.to_batches(columns=_COLUMNS, filter=wanted.where):
        yield from (LakeEvent(row["seq"], row["origin"], row["body"]) for row in batch.to_pylist())


def _list(context: ActionContext, wanted: _Wanted) -> list[Folder]:
    with context.engine.connect() as connection:
        return list_folders(query_function(connection), wanted.first_day, wanted.last_day)


def _of_span(span: Span, where: Any = True) -> _Wanted:  # noqa: ANN401, FBT002 - a filter of pyarrow
    """Return the days of the span, and its events to the instant."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    instant = pa.timestamp("us", tz="UTC")
    at = pc.coalesce(ds.field("event_time"), ds.field("received_at")).cast(instant, safe=False)
    begin, end = (pa.scalar(each, type=instant) for each in (span.begin, span.end))
    within = (at >= begin) & (at < end)
    days = (each.date().isoformat() for each in (span.begin, span.end))
    return _Wanted(within if where is True else within & where, *days)


def _span_of(engine: Engine, run_id: str) -> Span | None:
    """Return the times in the catalog; None: the catalog has no such run, so all days are read."""
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
    return any(json_at(event, *place, "runId") == run_id for place in places)


def json_at(value: Any, *path: str) -> Any:  # noqa: ANN401 - JSON of anybody's
    """Return the JSON value at that place; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
