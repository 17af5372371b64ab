"""The lake: every raw event, as Parquet, by the day of the event.

A batch writes one folder, named by the range of events that it may hold, and a replay overwrites
it: a batch that was killed before its commit leaves nothing that its successor does not replace.
Folders are compacted into one. A folder is there for readers from the moment it has its name, and
a folder that a compacted one covers is not: so that they never see both or neither.
"""

import shutil
from itertools import count as numbers
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import structlog
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineage.lake import BATCH, COMPACTED, Folder, events, every, folders

__all__ = ["Folder", "compact", "count", "events", "folders", "forget", "write_batch"]

log = structlog.get_logger(__name__)

ASIDE = "aside"
_UNFINISHED = "_unfinished"
_DIGITS = 20
_ROWS_A_FILE = 1_000_000
_ROWS_A_GROUP = 50_000


def write_batch(parsed: DataFrame, lake: Path, after_seq: int, last_seq: int) -> None:
    """Write the events of a batch to its folder, replacing what an earlier try left there.

    A folder of another range that holds some of these events is put aside, never deleted.

    Args:
        parsed: `schemas.PARSED`.
        lake: root folder of the lake.
        after_seq: the batch holds the events behind this one …
        last_seq: … up to and with this one.
    """
    folder = lake / _name(BATCH, after_seq + 1, last_seq)
    for other in every(lake):
        overlaps = other.first_seq <= last_seq and other.last_seq > after_seq
        if overlaps and other.path != folder:
            _put_aside(other, lake)
    # An event whose time cannot be read is kept under the day that it came.
    day = F.to_date(F.coalesce("event_time", "received_at")).alias("event_date")
    raw = parsed.select("seq", "received_at", "origin", "kind", "event_time", "body", day)
    raw.write.mode("overwrite").partitionBy("event_date").option("compression", "zstd").parquet(
        str(folder)
    )


def _put_aside(folder: Folder, lake: Path) -> None:
    """Move a folder to where no reader looks; its days are deleted when the lake's are."""
    (lake / ASIDE).mkdir(exist_ok=True)
    paths = (lake / ASIDE / f"{folder.path.name}.{number}" for number in numbers(1))
    target = next(path for path in paths if not path.exists())
    folder.path.rename(target)
    log.warning("lake_folder_put_aside", folder=folder.path.name, target=str(target))


def _name(kind: str, first_seq: int, last_seq: int) -> str:
    return f"{kind}-{first_seq:0{_DIGITS}}-{last_seq:0{_DIGITS}}"


def compact(lake: Path, committed_seq: int) -> Folder | None:
    """Make one folder of all committed batches.

    The new one takes the place of the others at its renaming.

    Returns:
        The new folder; None where there was nothing to gain.
    """
    for path in lake.glob(f"{_UNFINISHED}-*"):
        shutil.rmtree(path)
    _sweep(lake, committed_seq)
    batches = [folder for folder in folders(lake, committed_seq) if not folder.is_compacted]
    if len(batches) < 2:  # noqa: PLR2004 - one folder is compact
        return None
    first_seq, last_seq = batches[0].first_seq, batches[-1].last_seq
    unfinished = lake / _name(_UNFINISHED, first_seq, last_seq)
    _rewrite(batches, unfinished)
    compacted = Folder(lake / _name(COMPACTED, first_seq, last_seq), first_seq, last_seq)
    unfinished.rename(compacted.path)
    _sweep(lake, committed_seq)
    return compacted


def _rewrite(batches: list[Folder], target: Path) -> None:
    source = events(batches)
    written = ds.write_dataset(
        source,
        target,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("event_date", pa.string())]), flavor="hive"),
        file_options=ds.ParquetFileFormat().make_write_options(compression="zstd"),
        max_rows_per_file=_ROWS_A_FILE,
        max_rows_per_group=_ROWS_A_GROUP,
    )
    del written
    copied = ds.dataset(target, format="parquet", partitioning="hive").count_rows()
    if copied != source.count_rows():
        message = (
            f"compaction of {len(batches)} folders into {target}: {copied} rows of "
            f"{source.count_rows()} arrived"
        )
        raise OSError(message)


def _sweep(lake: Path, committed_seq: int) -> None:
    """Delete what a compacted folder covers: nobody reads it."""
    kept = folders(lake, committed_seq)
    for folder in every(lake):
        if folder.last_seq <= committed_seq and folder not in kept:
            shutil.rmtree(folder.path)


def forget(lake: Path, before: str) -> int:
    """Delete the days before `before` (YYYY-MM-DD); the number of folders deleted."""
    days = [
        path
        for path in lake.glob("*/event_date=*")
        if path.name.removeprefix("event_date=") < before
    ]
    for path in days:
        shutil.rmtree(path)
    return len(days)


def count(lake: Path, committed_seq: int) -> int:
    """Events that readers see."""
    found = folders(lake, committed_seq)
    return events(found).count_rows() if found else 0
