"""Reconciliation of a catalog's manifest with the lake, when the pipeline starts.

A catalog that has no manifest yet takes over the folders that its older release committed. One that
was restored from a copy lacks the folders that took the place of those it names. Events behind the
catalog's cursor are left out: they land again, from a log that may give them other numbers.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
import pyarrow.dataset as ds
import structlog
from msgspec.structs import replace
from pyarrow.fs import FileSelector
from sqlalchemy import Connection, delete, select, update

from lineage.catalog.tables import lake_folder
from lineage.lake.manifest import Folder
from lineage.lake.reading import read_events
from lineage.lake.storage import Lake
from lineage.process.clock import to_micros
from slis.lake.batches import record_folders
from slis.lake.committing import add_folders
from slis.lake.files import write_batches
from slis.lake.listing import LakeBatch, read_batches
from slis.lake.names import COMPACTED, FolderName, make_name, parse_name

log = structlog.get_logger(__name__)

_PIECE = 500  # paths in a statement


class ManifestChange(msgspec.Struct, frozen=True):
    """Rows that the manifest gets, and rows that readers see no more."""

    added: tuple[Folder, ...] = ()
    hidden: tuple[str, ...] = ()


def is_restored(
    names: Iterable[FolderName], visible: Iterable[Folder], epoch: int, owner: str
) -> bool:
    """Return whether the catalog is older than the lake.

    Args:
        names: of the folders in the lake.
        visible: rows of the manifest.
        epoch: that the catalog knows last.
        owner: of the catalog's folders.
    """
    there = {name.text for name in names}
    is_older = any(name.epoch > epoch for name in names if name.owner == owner)
    return is_older or any(folder.batch not in there for folder in visible)


class LakeState(msgspec.Struct, frozen=True):
    """State of the lake as a catalog has it.

    Attributes:
        visible: rows of the manifest.
        committed: the last event that the catalog has.
        epoch: that begins now.
        owner: of the catalog's folders.
        hidden: rows that readers see no more, and whose files may be there: their days by path.
    """

    visible: Sequence[Folder]
    committed: int
    epoch: int
    owner: str
    hidden: Mapping[str, str]


def reconcile(
    lake: Lake, names: Sequence[FolderName], standing: LakeState, now: datetime
) -> ManifestChange:
    """Return the change by which folders that are there take the place of those that are gone."""
    files = _list_files(lake)
    there = [one for one in standing.visible if files.issuperset(one.file_paths)]
    paths = {one.path for one in there}
    broken = {one.batch for one in standing.visible if one.path not in paths}
    present = group_batches(there)
    chosen = _Chosen(standing.committed)
    chosen.add([one for one in present if one.name.text not in broken])
    found = read_batches(lake, _candidates(names, standing), now.date())
    chosen.add(_without_expired(found, standing))
    # Retention may have deleted some of its days: what is left counts where nothing covers it.
    chosen.add([one for one in present if one.name.text in broken])
    batches = [_cut(lake, one, standing) for one in chosen.batches]
    kept = {folder.path for batch in batches for folder in batch.folders}
    rows = {folder.path for folder in standing.visible}
    return ManifestChange(
        added=tuple(f for batch in batches for f in batch.folders if f.path not in rows),
        hidden=tuple(sorted(rows - kept)),
    )


def _candidates(names: Iterable[FolderName], standing: LakeState) -> list[FolderName]:
    """Return names without rows that may hold events which the catalog has."""
    known = {folder.batch for folder in standing.visible}
    unknown = (name for name in names if name.text not in known and not name.is_unfinished)
    return [
        name
        for name in unknown
        # Folders of older releases may be unfinished, unless they were committed.
        if name.first_seq <= standing.committed
        and (name.owner is not None or name.last_seq <= standing.committed)
    ]


def _without_expired(batches: Iterable[LakeBatch], standing: LakeState) -> list[LakeBatch]:
    """Leave out days that retention has hidden: no visible folder has them any more.

    A compaction hides folders as well, but its own folder has their days.
    """
    days = {folder.event_date for folder in standing.visible}
    expired = {path for path, day in standing.hidden.items() if days and day not in days}
    left = []
    for batch in batches:
        kept = tuple(folder for folder in batch.folders if folder.path not in expired)
        if kept or not batch.folders:
            left.append(replace(batch, folders=kept))
    return left


def _cut(lake: Lake, batch: LakeBatch, standing: LakeState) -> LakeBatch:
    """Copy the events that the catalog has to a folder of their own, where there are others."""
    known = {folder.batch for folder in standing.visible}
    if batch.name.last_seq <= standing.committed or batch.name.text in known:
        return batch
    bounds = batch.name.first_seq, standing.committed
    name = make_name(COMPACTED, *bounds, epoch=standing.epoch, owner=standing.owner)
    wanted = ds.field("seq") <= standing.committed
    events = read_events(lake, batch.folders).to_batches(filter=wanted)
    return LakeBatch(
        name, tuple(record_folders(write_batches(events, lake, name.text), lake, name))
    )


def apply(connection: Connection, change: ManifestChange, now: datetime) -> None:
    """Write the change, in the transaction in which the epoch begins."""
    # A folder that was hidden, but not deleted yet, has a row: the new one takes its place.
    for paths in _pieces([folder.path for folder in change.added]):
        is_hidden = lake_folder.c.deleted_at.is_not(None)
        connection.execute(delete(lake_folder).where(lake_folder.c.path.in_(paths), is_hidden))
    add_folders(connection, change.added)
    for paths in _pieces(change.hidden):
        is_it = lake_folder.c.path.in_(paths)
        connection.execute(update(lake_folder).where(is_it).values(deleted_at=to_micros(now)))
    if change.added or change.hidden:
        counts = {"added": len(change.added), "hidden": len(change.hidden)}
        log.info("lake_manifest_changed", **counts)


def _pieces(paths: Sequence[str]) -> Iterable[Sequence[str]]:
    for begin in range(0, len(paths), _PIECE):
        yield paths[begin : begin + _PIECE]


def list_hidden(connection: Connection) -> dict[str, str]:
    """Return the paths of rows that readers see no more, with their days."""
    columns = select(lake_folder.c.path, lake_folder.c.event_date)
    found = connection.execute(columns.where(lake_folder.c.deleted_at.is_not(None)))
    return dict(found.all())


def _list_files(lake: Lake) -> set[str]:
    selector = FileSelector("", recursive=True, allow_not_found=True)
    return {info.path for info in lake.filesystem.get_file_info(selector) if info.is_file}


def group_batches(folders: Iterable[Folder]) -> list[LakeBatch]:
    """Return the batches that these folders are days of."""
    by_batch: dict[str, list[Folder]] = {}
    for folder in folders:
        by_batch.setdefault(folder.batch, []).append(folder)
    parsed = ((parse_name(batch), found) for batch, found in by_batch.items())
    return [LakeBatch(name, tuple(found)) for name, found in parsed if name is not None]


class _Chosen:
    """Batches whose ranges do not overlap, in the order of their events.

    Attributes:
        batches: that were chosen.
    """

    def __init__(self, committed: int) -> None:
        self._committed = committed
        self.batches: list[LakeBatch] = []

    def add(self, candidates: Iterable[LakeBatch]) -> None:
        """Add each, the widest first, that covers whole batches, and an event that none has."""
        for one in sorted(candidates, key=self._width, reverse=True):
            begin, end = self._overlapping(one)
            met = self.batches[begin:end]
            is_wider = sum(map(self._width, met)) < self._width(one)
            if is_wider and all(self._covers(one, other) for other in met):
                self.batches[begin:end] = [one]

    def _overlapping(self, one: LakeBatch) -> tuple[int, int]:
        begin = bisect_right(self.batches, one.name.first_seq - 1, key=self._last)
        end = bisect_right(self.batches, self._last(one), key=_first)
        return begin, max(begin, end)

    def _covers(self, one: LakeBatch, other: LakeBatch) -> bool:
        return _first(one) <= _first(other) and self._last(other) <= self._last(one)

    def _width(self, batch: LakeBatch) -> int:
        return self._last(batch) - _first(batch) + 1

    def _last(self, batch: LakeBatch) -> int:
        return max(_first(batch), min(batch.name.last_seq, self._committed))


def _first(batch: LakeBatch) -> int:
    return batch.name.first_seq
