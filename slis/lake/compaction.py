"""Compaction: few large folders of many small ones, one bounded piece at a time.

A piece is written beside the folders that it is made of, and takes their place by one transaction
that swaps the rows. Each event is rewritten a few times at most, and few folders are left.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import structlog
from pyspark.sql import SparkSession
from sqlalchemy import text

from lineage.lake.manifest import MANIFEST_COLUMNS, Folder, read_folder
from lineage.lake.reading import read_events
from lineage.lake.storage import Lake
from slis.lake.batches import record_folders
from slis.lake.committing import hide_folders
from slis.lake.files import File, write_batches
from slis.lake.names import COMPACTED
from slis.lake.positions import join_positions
from slis.lake.writer import LakeWriter

log = structlog.get_logger(__name__)

Rewrite = Callable[[Lake, Sequence[Folder], str], list[File]]

# Of one piece: what a kill wastes, and what memory and disk have to have room for.
MOST_FILES: Final = 500
MOST_BYTES: Final = 256 << 20
_LARGE_BYTES: Final = MOST_BYTES // 2  # a compacted batch of so many is not rewritten any more
_MOST_BATCHES: Final = 500
_MOST_LISTED: Final = 10_000
_NEWEST: Final = f"""
    SELECT {MANIFEST_COLUMNS} FROM lake_folder WHERE deleted_at IS NULL
    ORDER BY first_seq DESC, event_date DESC LIMIT :most
"""  # noqa: S608 - our own names
_SMALL: Final = """
    SELECT count(*) FROM (SELECT DISTINCT batch FROM lake_folder
        WHERE deleted_at IS NULL AND NOT is_compacted LIMIT :most) AS found
"""


class Piece(msgspec.Struct, frozen=True):
    """Folders of one batch, or of one compaction."""

    folders: tuple[Folder, ...]

    @property
    def is_compacted(self) -> bool:
        """Made of several batches."""
        return self.folders[0].is_compacted

    @property
    def size(self) -> int:
        """Bytes of the files."""
        return sum(folder.size for folder in self.folders)

    @property
    def files(self) -> int:
        """Number of the files."""
        return sum(len(folder.names) for folder in self.folders)


def is_scattered(writer: LakeWriter) -> bool:
    """Return whether the lake has so many small folders that a compaction should not wait."""
    with writer.engine.connect() as connection:
        found = connection.scalar(text(_SMALL), {"most": _MOST_BATCHES + 1})
    return int(found or 0) > _MOST_BATCHES


def rewrite(lake: Lake, folders: Sequence[Folder], target: str) -> list[File]:
    """Write the events of these folders to one folder.

    Raises:
        OSError: not all events arrived.
    """
    files = write_batches(read_events(lake, folders).to_batches(), lake, target)
    expected, copied = (sum(each.events for each in found) for found in (folders, files))
    if copied != expected:
        message = (
            f"compaction of {len(folders)} folders into {target}: {copied} events of {expected}"
            " arrived"
        )
        raise OSError(message)
    return files


def choose_rewrite(spark: SparkSession, lake: Lake) -> Rewrite:
    """Return the function that rewrites a piece: in the driver on its disk, else on an executor."""
    if lake.is_local:
        return rewrite

    def run(lake: Lake, folders: Sequence[Folder], target: str) -> list[File]:
        one = spark.sparkContext.parallelize([0], 1)
        return one.flatMap(lambda _: rewrite(lake, folders, target)).collect()

    return run


def compact(writer: LakeWriter, now: int, run: Rewrite = rewrite) -> bool:
    """Compact one piece; False where nothing is to be gained.

    Args:
        writer: of the lake.
        now: in µs: the time at which the old folders are hidden.
        run: rewrites the folders, here or on an executor.

    Raises:
        StaleEpochError: a newer pipeline has started.
        OSError: the disk has not twice the room that the new folder takes, or it is full.
    """
    writer.delete_failed()
    found = choose_piece(_list_newest(writer))
    if not found:
        return False
    _check_room(writer.lake, found)
    bounds = min(each.first_seq for each in found), max(each.last_seq for each in found)
    with writer.folder(COMPACTED, *bounds) as name:
        written = record_folders(run(writer.lake, found, name.text), writer.lake, name)
        join_positions(writer.lake, [each.batch for each in found], name.text)
        with writer.turn() as connection:
            is_unchanged = hide_folders(connection, found, now)
            if is_unchanged:
                writer.commit(connection, written)
    if not is_unchanged:
        # Retention hid one of them meanwhile: the next turn compacts what is left.
        writer.give_up(name)
        return False
    log.info("lake_compacted", folder=name.text, folders=len(found), files=len(written))
    return True


def _list_newest(writer: LakeWriter) -> list[Folder]:
    """Return the newest folders, in the order of their events: older ones are compacted."""
    with writer.engine.connect() as connection:
        rows = connection.execute(text(_NEWEST), {"most": _MOST_LISTED}).all()
    folders = [read_folder(row) for row in reversed(rows)]
    if len(rows) < _MOST_LISTED:
        return folders
    # Other days of the first batch may be cut off.
    return [folder for folder in folders if folder.batch != folders[0].batch]


def choose_piece(folders: Iterable[Folder]) -> list[Folder]:
    """Return the folders to make one of; none where nothing is to be gained.

    They are batches, and compacted ones before them that are no larger than all behind them.
    """
    by_batch: dict[str, list[Folder]] = {}
    for folder in folders:
        by_batch.setdefault(folder.batch, []).append(folder)
    pieces = [Piece(tuple(found)) for found in by_batch.values()]
    chosen = _bounded(_worth_compacting(pieces))
    return [folder for piece in chosen for folder in piece.folders]


def _worth_compacting(pieces: list[Piece]) -> list[Piece]:
    batches = [piece for piece in pieces if not piece.is_compacted]
    if sum(piece.files for piece in batches) > MOST_FILES:
        # Compacted ones join the last piece only: else each piece rewrote the one before.
        return batches
    taken: list[Piece] = []
    total = 0
    for piece in reversed(pieces):
        is_small = piece.size <= min(total, _LARGE_BYTES)
        if piece.is_compacted and not is_small:
            break
        taken.append(piece)
        total += piece.size
    return taken[::-1] if any(not piece.is_compacted for piece in taken) else []


def _bounded(pieces: list[Piece]) -> list[Piece]:
    """Return the first pieces in a row that are two or more within the bounds."""
    for place in range(len(pieces)):
        taken: list[Piece] = []
        files, size = 0, 0
        for piece in pieces[place:]:
            files, size = files + piece.files, size + piece.size
            # A batch of a loaded history may have a file for each day of years.
            if size > MOST_BYTES or (files > MOST_FILES and len(taken) > 1):
                break
            taken.append(piece)
        if len(taken) > 1:
            return taken
    return []


def _check_room(lake: Lake, found: Sequence[Folder]) -> None:
    if not lake.is_local:
        return
    needed, free = 2 * sum(each.size for each in found), shutil.disk_usage(lake.folder).free
    if free < needed:
        message = (
            f"compaction of {len(found)} folders of {lake.place} needs {needed} bytes free on its"
            f" disk, and {free} are: nothing was compacted"
        )
        raise OSError(message)
