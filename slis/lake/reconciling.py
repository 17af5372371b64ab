"""Brings the manifest of a catalog into line with the lake, when the pipeline starts.

A catalog that has no manifest yet takes over the folders that its older release committed. One that
was restored from a copy lacks the folders that took the place of those it names.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
import structlog
from pyarrow.fs import FileSelector
from sqlalchemy import Connection, update

from lineage.catalog.tables import lake_folder
from lineage.clock import to_micros
from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from slis.lake.committing import add_folders
from slis.lake.listing import Batch, choose_disjoint, read_batches
from slis.lake.names import Name, parse_name

log = structlog.get_logger(__name__)

_PIECE = 500  # paths in a statement


class Change(msgspec.Struct, frozen=True):
    """Rows that the manifest gets, and rows that readers see no more."""

    added: tuple[Folder, ...] = ()
    hidden: tuple[str, ...] = ()


def take_over(lake: Lake, names: Sequence[Name], committed: int, now: datetime) -> Change:
    """Return the rows of what a catalog without a manifest has committed, each event once."""
    there = [name for name in names if name.last_seq <= committed]
    found = read_batches(lake, choose_disjoint(there), now.date())
    return Change(added=tuple(folder for batch in found for folder in batch.folders))


def is_restored(names: Iterable[Name], visible: Iterable[Folder], epoch: int, owner: str) -> bool:
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


def repair(
    lake: Lake, names: Sequence[Name], visible: Sequence[Folder], committed: int, now: datetime
) -> Change:
    """Return the change by which folders that are there take the place of those that are gone."""
    files = _list_files(lake)
    present = [one for one in visible if files.issuperset(one.file_paths)]
    known = {folder.batch for folder in visible}
    unknown = [name for name in names if name.text not in known and name.first_seq <= committed]
    candidates = read_batches(lake, (name for name in unknown if name.owner), now.date())
    chosen = _replace(group_batches(present), candidates)
    kept = {folder.path for batch in chosen for folder in batch.folders}
    rows = {folder.path for folder in visible}
    return Change(
        added=tuple(f for batch in chosen for f in batch.folders if f.path not in rows),
        hidden=tuple(sorted(rows - kept)),
    )


def apply(connection: Connection, change: Change, now: datetime) -> None:
    """Write the change, in the transaction in which the epoch begins."""
    add_folders(connection, change.added)
    for begin in range(0, len(change.hidden), _PIECE):
        paths = change.hidden[begin : begin + _PIECE]
        is_it = lake_folder.c.path.in_(paths)
        connection.execute(update(lake_folder).where(is_it).values(deleted_at=to_micros(now)))
    if change.added or change.hidden:
        counts = {"added": len(change.added), "hidden": len(change.hidden)}
        log.info("lake_manifest_changed", **counts)


def _list_files(lake: Lake) -> set[str]:
    selector = FileSelector("", recursive=True, allow_not_found=True)
    return {info.path for info in lake.filesystem.get_file_info(selector) if info.is_file}


def group_batches(folders: Iterable[Folder]) -> list[Batch]:
    """Return the batches that these folders are days of."""
    by_batch: dict[str, list[Folder]] = {}
    for folder in folders:
        by_batch.setdefault(folder.batch, []).append(folder)
    parsed = ((parse_name(batch), found) for batch, found in by_batch.items())
    return [Batch(name, tuple(found)) for name, found in parsed if name is not None]


def _replace(present: list[Batch], candidates: Iterable[Batch]) -> list[Batch]:
    """Add each candidate, the widest first, that covers whole batches or nothing of any."""
    chosen = list(present)
    for one in sorted(candidates, key=_width, reverse=True):
        met = [other for other in chosen if _overlap(one.name, other.name)]
        if all(_covers(one.name, other.name) for other in met):
            chosen = [other for other in chosen if other not in met] + [one]
    return chosen


def _width(batch: Batch) -> tuple[int, int]:
    return batch.name.last_seq - batch.name.first_seq, batch.name.epoch


def _overlap(one: Name, other: Name) -> bool:
    return one.first_seq <= other.last_seq and other.first_seq <= one.last_seq


def _covers(one: Name, other: Name) -> bool:
    return one.first_seq <= other.first_seq and other.last_seq <= one.last_seq
