"""The lake: every raw event, as Parquet, by the day of the event.

A batch writes one folder, named by the range of events that it may hold, and a replay overwrites
it: a batch that was killed before its commit leaves nothing that its successor does not replace.
Folders are compacted into one. A folder is there for readers from the moment it has its name, and
a folder that a compacted one covers is not: so that they never see both or neither.
"""

import os
import shutil
from datetime import date, timedelta
from itertools import count as numbers
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import structlog
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineage.lake import BATCH, COMPACTED, Folder, events, every, folders

__all__ = ["Folder", "compact", "count", "events", "folders", "forget", "write_batch"]

log = structlog.get_logger(__name__)

ASIDE = "aside"
_UNFINISHED = "_unfinished"
_DAY = "event_date="
_NO_DAY = "A"  # behind every date, before what Spark calls an event without one
_MOST_BATCHES = 500
_MOST_BYTES = 1 << 30  # of a compacted folder that is rewritten once more
_DIGITS = 20
_ROWS_A_FILE = 1_000_000
_ROWS_A_GROUP = 50_000
# Rows may have 10 MiB: sizes are looked at after each row, and a few of them are a row group. By
# its defaults Parquet holds 100 rows before it looks.
_PARQUET: dict[str, int | str] = {
    "compression": "zstd",
    "parquet.block.size": 32 << 20,
    "parquet.page.size.row.check.min": 1,
    "parquet.page.size.row.check.max": 1_000,
    "parquet.block.size.row.check.min": 1,
    "parquet.block.size.row.check.max": 1_000,
}


def write_batch(parsed: DataFrame, lake: Path, after_seq: int, last_seq: int) -> None:
    """Write the events of a batch to its folder, replacing what an earlier try left there.

    A folder of another range that holds some of these events is put aside, never deleted.

    Args:
        parsed: `schemas.PARSED`.
        lake: root folder of the lake.
        after_seq: the batch holds the events behind this one …
        last_seq: … up to and with this one.
    """
    folder = _make_room(lake, after_seq, last_seq)
    # An event whose time cannot be read is kept under the day that it came.
    day = F.to_date(F.coalesce("event_time", "received_at")).alias("event_date")
    raw = parsed.select("seq", "received_at", "origin", "kind", "event_time", "body", day)
    writer = raw.write.mode("overwrite").partitionBy("event_date").options(**_PARQUET)
    writer.parquet(str(folder))


def write_raw(events: pa.Table, lake: Path, after_seq: int, last_seq: int) -> None:
    """Write events to the folder of their batch without Spark, under the day that they came.

    Args:
        events: as `source.read` gives them.
        lake: root folder of the lake.
        after_seq: the batch holds the events behind this one ...
        last_seq: ... up to and with this one.
    """
    folder = _make_room(lake, after_seq, last_seq)
    shutil.rmtree(folder, ignore_errors=True)
    # As Spark writes instants: folders of one lake are read together, by one schema.
    instant = pa.timestamp("ns")
    received_at = events["received_at"].cast(pa.timestamp("us")).cast(instant)
    parquet = ds.ParquetFileFormat()
    options = parquet.make_write_options(compression="zstd", use_deprecated_int96_timestamps=True)
    columns = {
        **{name: events[name] for name in ("seq", "origin", "kind", "body")},
        "received_at": received_at,
        "event_time": pa.nulls(events.num_rows, instant),
        "event_date": pc.strftime(received_at, "%Y-%m-%d"),
    }
    ds.write_dataset(
        pa.table(columns),
        folder,
        format=parquet,
        partitioning=ds.partitioning(pa.schema([("event_date", pa.string())]), flavor="hive"),
        file_options=options,
    )


def _make_room(lake: Path, after_seq: int, last_seq: int) -> Path:
    """Put aside what overlaps the batch, and return the batch's own folder."""
    folder = lake / _name(BATCH, after_seq + 1, last_seq)
    for other in every(lake):
        overlaps = other.first_seq <= last_seq and other.last_seq > after_seq
        if overlaps and other.path != folder:
            _put_aside(other, lake)
    return folder


def _put_aside(folder: Folder, lake: Path) -> None:
    """Move a folder to where no reader looks; its days are deleted when the lake's are."""
    (lake / ASIDE).mkdir(exist_ok=True)
    paths = (lake / ASIDE / f"{folder.path.name}.{number}" for number in numbers(1))
    target = next(path for path in paths if not path.exists())
    folder.path.rename(target)
    log.warning("lake_folder_put_aside", folder=folder.path.name, target=str(target))


def _name(kind: str, first_seq: int, last_seq: int) -> str:
    return f"{kind}-{first_seq:0{_DIGITS}}-{last_seq:0{_DIGITS}}"


def is_scattered(lake: Path) -> bool:
    """Whether the lake has so many folders of batches that a compaction should not wait."""
    return sum(not folder.is_compacted for folder in every(lake)) > _MOST_BATCHES


def compact(lake: Path, committed_seq: int) -> Folder | None:
    """Make one folder of all committed batches, and of small compacted ones before them.

    The new one takes the place of the others at its renaming.

    Returns:
        The new folder; None where there was nothing to gain.

    Raises:
        OSError: the disk has not twice the room that the new folder takes, or it is full. Nothing
            is lost, and nothing is left over.
    """
    _remove_unfinished(lake)
    _sweep(lake, committed_seq)
    found = _worth_compacting(folders(lake, committed_seq))
    if len(found) < 2:  # noqa: PLR2004 - one folder is compact
        return None
    _check_room(lake, found)
    first_seq, last_seq = found[0].first_seq, found[-1].last_seq
    unfinished = lake / _name(_UNFINISHED, first_seq, last_seq)
    compacted = Folder(lake / _name(COMPACTED, first_seq, last_seq), first_seq, last_seq)
    try:
        _rewrite(found, unfinished)
        unfinished.rename(compacted.path)
    finally:
        _remove_unfinished(lake)
    _sweep(lake, committed_seq)
    return compacted


def _remove_unfinished(lake: Path) -> None:
    for path in lake.glob(f"{_UNFINISHED}-*"):
        # A writer that failed may still hold its files open: an empty file frees the disk at once.
        for file in path.rglob("*.parquet"):
            os.truncate(file, 0)
        shutil.rmtree(path)


def _worth_compacting(found: list[Folder]) -> list[Folder]:
    """The batches, and compacted folders before them that are no larger than all behind them.

    So each event is rewritten a few times at most, and few folders are left.
    """
    newest = found[::-1]
    taken: list[Folder] = []
    total = 0
    for folder in newest:
        size = _bytes(folder)
        is_small = size <= min(total, _MOST_BYTES)
        if folder.is_compacted and not is_small:
            break
        taken.append(folder)
        total += size
    return taken[::-1] if any(not folder.is_compacted for folder in taken) else []


def _bytes(folder: Folder) -> int:
    return sum(path.stat().st_size for path in folder.path.rglob("*.parquet"))


def _check_room(lake: Path, found: list[Folder]) -> None:
    needed, free = 2 * sum(map(_bytes, found)), shutil.disk_usage(lake).free
    if free < needed:
        message = (
            f"compaction of {len(found)} folders of {lake} needs {needed} bytes free on its disk, "
            f"and {free} are: nothing was compacted"
        )
        raise OSError(message)


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
    kept = {folder.path for folder in folders(lake, committed_seq)}
    for folder in every(lake):
        if folder.last_seq <= committed_seq and folder.path not in kept:
            shutil.rmtree(folder.path)


def forget(lake: Path, before: str) -> int:
    """Delete the days before `before` (YYYY-MM-DD), and folders left empty; how many days."""
    days = [path for path in _days(lake) if _day_of(path) < before]
    for path in days:
        shutil.rmtree(path)
        if not any(path.parent.glob(f"{_DAY}*")):
            shutil.rmtree(path.parent)
    return len(days)


def date_back(lake: Path, today: date) -> int:
    """Keep events of days that have not come under today: those days would never be deleted.

    Returns:
        The number of days moved.
    """
    latest = (today + timedelta(days=1)).isoformat()
    days = [path for path in _days(lake) if latest < _day_of(path) < _NO_DAY]
    for path in days:
        target = path.with_name(f"{_DAY}{today.isoformat()}")
        target.mkdir(exist_ok=True)
        for file in path.glob("*.parquet"):
            file.rename(target / f"{_day_of(path)}-{file.name}")
        shutil.rmtree(path)
    return len(days)


def _days(lake: Path) -> list[Path]:
    return [*lake.glob(f"*/{_DAY}*"), *lake.glob(f"{ASIDE}/*/{_DAY}*")]


def _day_of(path: Path) -> str:
    return path.name.removeprefix(_DAY)


def count(lake: Path, committed_seq: int) -> int:
    """Events that readers see."""
    found = folders(lake, committed_seq)
    return events(found).count_rows() if found else 0
