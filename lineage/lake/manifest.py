"""Manifest of the lake: rows of the catalog say which folders hold the committed events.

A file without a row is not part of the lake, and no reader lists a folder to find files.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from sqlalchemy import Connection

FIRST_DAY: Final = "0000-01-01"
LAST_DAY: Final = "9999-12-31"
_Rows = Callable[[str, Mapping[str, Any]], Iterable[Any]]  # of `MANIFEST_COLUMNS`, as attributes


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """Folder of the lake: one day of one batch, or of one compaction.

    Attributes:
        path: below the root of the lake.
        event_date: day of its events, as YYYY-MM-DD.
        first_seq: its batch may hold events of the spool from here ...
        last_seq: ... to here.
        epoch: of the pipeline that wrote it.
        is_compacted: made of several batches.
        names: of its files.
        events: that it holds.
        size: bytes of its files.
    """

    path: str
    event_date: str
    first_seq: int
    last_seq: int
    epoch: int
    is_compacted: bool
    names: tuple[str, ...]
    events: int
    size: int

    @property
    def batch(self) -> str:
        """Folder of the batch, which has a folder for each day."""
        return self.path.partition("/")[0]

    @property
    def file_paths(self) -> list[str]:
        """Files below the root of the lake."""
        return [f"{self.path}/{name}" for name in self.names]


MANIFEST_COLUMNS: Final = (
    "path, event_date, first_seq, last_seq, epoch, is_compacted, names, events, bytes"
)
_VISIBLE: Final = f"""
    SELECT {MANIFEST_COLUMNS} FROM lake_folder
    WHERE deleted_at IS NULL AND event_date >= :first AND event_date <= :last
    ORDER BY first_seq, event_date
"""  # noqa: S608 - our own names


def list_folders(rows: _Rows, first_day: str = FIRST_DAY, last_day: str = LAST_DAY) -> list[Folder]:
    """Return the folders of these days that readers see, in the order of their events.

    Args:
        rows: asks the catalog, as `query_function` does.
        first_day: as YYYY-MM-DD ...
        last_day: ... with this day.
    """
    found = rows(_VISIBLE, {"first": first_day, "last": last_day})
    return [read_folder(row) for row in found]


def query_function(connection: "Connection") -> _Rows:
    """Return a function that queries the catalog through this connection."""
    # Commands that query by a `CatalogReader` load no database toolkit.
    from sqlalchemy import text  # noqa: PLC0415

    return lambda sql, values: connection.execute(text(sql), dict(values)).all()


def read_folder(row: Any) -> Folder:  # noqa: ANN401 - of a reader or of SQLAlchemy
    """Return the folder of a row with `MANIFEST_COLUMNS`."""
    return Folder(
        path=row.path,
        event_date=row.event_date,
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        epoch=row.epoch,
        is_compacted=bool(row.is_compacted),
        names=msgspec.json.decode(row.names, type=tuple[str, ...]),
        events=row.events,
        size=row.bytes,
    )
