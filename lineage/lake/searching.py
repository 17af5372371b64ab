"""Searches events of the lake by time and by words in their bodies, in bounded memory."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from lineage.process.clock import from_micros

if TYPE_CHECKING:
    import pyarrow as pa

_TIMES: Final = ("event_time", "received_at")
_COLUMNS: Final = ("seq", "origin", "kind", "body", *_TIMES)
# An event of Spark's listener has 3.4 kB, and one may have 10 MiB. A batch of `pyarrow.dataset`
# takes whole row groups: it needed twice the memory, and a third more time.
_MOST_ROWS: Final = 1_024
_MOST_BYTES: Final = 16 << 20


class Search(msgspec.Struct, frozen=True):
    """Events to find.

    Attributes:
        after: their first time, in µs, by the producers' clocks; where an event has no time, when
            it came ...
        before: ... up to but without this one.
        words: the body of a found event has at least one of these words of letters, digits, `_`
            and `-`; none: each event is found.
    """

    after: int
    before: int
    words: tuple[str, ...] = ()


def search_events(
    lake: Lake, folders: Iterable[Folder], wanted: Search
) -> "Iterator[pa.RecordBatch]":
    """Yield the found events of these folders in small batches: number, origin, kind, body, time.

    `received_at` is in µs. Batches may be empty, so that a caller can look at its clock.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - `lineage.lake.reading` says why

    for path in (path for folder in folders for path in folder.file_paths):
        with pq.ParquetFile(path, filesystem=lake.filesystem) as file:
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                if _may_hold(group, wanted):
                    given = {"columns": list(_COLUMNS), "row_groups": [number]}
                    for batch in file.iter_batches(_rows_at_once(group), **given):
                        yield _found(batch, wanted)


def _rows_at_once(group: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    size = max(1, group.total_byte_size // max(1, group.num_rows))
    return int(min(_MOST_ROWS, max(1, _MOST_BYTES // size)))


def _may_hold(group: Any, wanted: Search) -> bool:  # noqa: ANN401 - as above
    """Return whether a row group may have events of the window, by what its file says of it."""
    columns = (group.column(number) for number in range(group.num_columns))
    times = next(column for column in columns if column.path_in_schema == "event_time").statistics
    if times is None or not times.has_min_max or not times.has_null_count or times.null_count:
        return True
    return bool(times.min < _time(wanted.before) and times.max >= _time(wanted.after))


def _found(events: "pa.RecordBatch", wanted: Search) -> "pa.RecordBatch":
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    given = dict(zip(events.schema.names, events.columns, strict=True))
    # Older releases wrote other units.
    times = [given.pop(name).cast(pa.timestamp("us"), safe=False) for name in _TIMES]
    at, received_at = pc.coalesce(*times), times[1]
    after, before = (pa.scalar(_time(one), at.type) for one in (wanted.after, wanted.before))
    is_within = pc.and_(pc.greater_equal(at, after), pc.less(at, before))
    found = pa.RecordBatch.from_pydict({**given, "received_at": received_at}).filter(is_within)
    if not wanted.words:
        return found
    # Many words by one pass of RE2, which is faster than `match_substring` with one of them.
    return found.filter(pc.match_substring_regex(found.column("body"), "|".join(wanted.words)))


def _time(micros: int) -> datetime:
    """Return a time as the lake has it: in UTC, without a zone."""
    return from_micros(micros).replace(tzinfo=None)
