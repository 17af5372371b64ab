"""Retention of the lake's folders: first rows go, so that no reader lists them, then files."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

import structlog
from pyarrow.fs import FileSelector
from sqlalchemy import delete, select, update

from lineage.catalog.queries import split_batches
from lineage.catalog.tables import lake_folder
from lineage.lake.storage import Lake
from lineage.process.clock import to_micros
from slis.lake.committing import find_committed, find_overlapping
from slis.lake.content import has_copies
from slis.lake.listing import list_names
from slis.lake.names import FolderName
from slis.lake.writer import LakeWriter
from slis.stream.merge.merge import cursor

log = structlog.get_logger(__name__)

# A reader that listed a folder has so long to read it. It tries again if that is not enough.
GRACE: Final = timedelta(minutes=10)
_DAY: Final = timedelta(days=1)
_MOST: Final = 200  # folders whose files are deleted in one turn
_t = lake_folder.c


def date_back(writer: LakeWriter, today: date) -> int:
    """Store folders of future days under today's date.

    Otherwise retention would never delete them.

    Returns:
        The number of folders moved.
    """
    latest = (today + _DAY).isoformat()
    is_ahead = (_t.deleted_at.is_(None), _t.event_date > latest)
    moved = update(lake_folder).where(*is_ahead).values(event_date=today.isoformat())
    with writer.turn() as connection:
        return connection.execute(moved).rowcount


def forget(writer: LakeWriter, before: date, now: datetime) -> int:
    """Hide the days before `before`; return the number of folders.

    Args:
        writer: of the lake.
        before: the first day that is kept.
        now: by the pipeline's clock.
    """
    is_old = (_t.deleted_at.is_(None), _t.event_date < before.isoformat())
    hidden = update(lake_folder).where(*is_old).values(deleted_at=to_micros(now))
    with writer.turn() as connection:
        return connection.execute(hidden).rowcount


def delete_hidden(writer: LakeWriter, now: datetime, grace: timedelta = GRACE) -> int:
    """Delete the files that were hidden longer ago than `grace`, then their rows.

    Returns:
        The number of folders deleted.
    """
    is_due = _t.deleted_at < to_micros(now - grace)
    with writer.turn() as connection:
        due = select(_t.path, _t.batch).where(is_due).order_by(_t.deleted_at).limit(_MOST)
        found = connection.execute(due).all()
    if not found:
        return 0
    writer.check_place()
    for path, _ in found:
        writer.lake.delete(path)
    paths = [path for path, _ in found]
    with writer.turn() as connection:
        connection.execute(delete(lake_folder).where(_t.path.in_(paths)))
        batches = sorted({batch for _, batch in found})
        empty = set(batches) - find_committed(connection, batches)
    for batch in sorted(empty):
        writer.lake.delete(batch)
    return len(found)


def delete_unknown(writer: LakeWriter, now: datetime, kept_from: date = date.min) -> int:
    """Delete what processes before this one wrote, and never committed.

    A folder is deleted only if this catalog wrote it, in an older epoch, if no row names it, if
    readers see its events in other folders, and if no file of it is younger than a day.

    Args:
        writer: of the lake.
        now: by the pipeline's clock.
        kept_from: the first day whose retention has not passed.

    Returns:
        The number of folders deleted.
    """
    writer.check_place()
    names = [name for name in list_names(writer.lake) if _is_candidate(writer, name)]
    with writer.turn() as connection:
        at = cursor(connection)
        some = split_batches((name.text for name in names), _MOST)
        known = set().union(*(find_committed(connection, texts) for texts in some))
    unknown = [name for name in names if name.last_seq <= at and name.text not in known]
    old = [name for name in unknown if _is_old(writer.lake, name, now)][:_MOST]
    spare = [name for name in old if _is_spare(writer, name, kept_from)]
    for name in spare:
        writer.lake.delete(name.text)
        log.info("lake_folder_deleted", folder=name.text, reason="no batch committed it")
    return len(spare)


def _is_spare(writer: LakeWriter, name: FolderName, kept_from: date) -> bool:
    """Return whether other folders have all events of this one; keep and log it otherwise."""
    with writer.engine.connect() as connection:
        visible = find_overlapping(connection, name.first_seq, name.last_seq)
    try:
        is_spare = has_copies(writer.lake, name.text, visible, kept_from)
        reason = "no row names the folder, and the lake has no other copy of its events"
    except OSError as error:
        is_spare, reason = False, f"the events of the folder cannot be compared: {error}"
    if not is_spare:
        writer.kept.add(name.text)
        log.warning("lake_folder_kept", folder=name.text, reason=reason)
    return is_spare


def _is_candidate(writer: LakeWriter, name: FolderName) -> bool:
    started = writer.started
    # Older releases wrote no owner, and to the data folder only.
    is_own = name.owner == started.owner or (name.owner is None and writer.lake.is_local)
    return is_own and name.epoch < started.epoch and name.text not in writer.kept


def _is_old(lake: Lake, name: FolderName, now: datetime) -> bool:
    infos = lake.filesystem.get_file_info(FileSelector(name.text, recursive=True))
    times = [info.mtime for info in infos if info.is_file and info.mtime is not None]
    return max(times, default=datetime.min.replace(tzinfo=UTC)) < now - _DAY
