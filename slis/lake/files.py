"""Writer of the lake's files, on the driver or on an executor.

No file is renamed, and none is written twice: a bucket has no rename, and a process that was taken
for dead may still write.
"""

from collections.abc import Iterator
from typing import Final
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds

from lineage.lake.reading import event_schema
from lineage.lake.storage import Lake

_ROWS_A_FILE: Final = 1_000_000
_ROWS_A_GROUP: Final = 50_000
_GROUP_BYTES: Final = 32 << 20
_DAY: Final = "event_date"


class File(msgspec.Struct, frozen=True):
    """File that was written.

    Attributes:
        path: below the root of the lake.
        event_date: day of its events.
        events: that it holds.
        size: its bytes.
    """

    path: str
    event_date: str
    events: int
    size: int


def write_table(events: pa.Table, lake: Lake, folder: str) -> list[File]:
    """Write events to a folder below the root of the lake, each day to its own.

    Args:
        events: of `event_schema`.
        lake: to write to.
        folder: of this batch alone.
    """
    # Rows may have 10 MiB, and a reader holds a row group at once.
    size = max(1, events.nbytes // max(1, events.num_rows))
    group = min(_ROWS_A_GROUP, max(1, _GROUP_BYTES // size))
    return write_batches(iter(events.to_batches()), lake, folder, rows_a_group=group)


def write_batches(
    batches: Iterator[pa.RecordBatch],
    lake: Lake,
    folder: str,
    *,
    rows_a_group: int = _ROWS_A_GROUP,
) -> list[File]:
    """Write batches of events as `write_table` does, without holding them all."""
    files: list[File] = []

    def note(written: ds.WrittenFile) -> None:
        day = written.path.rpartition("/")[0].rpartition(f"{_DAY}=")[2]
        files.append(File(written.path, day, written.metadata.num_rows, written.size))

    ds.write_dataset(
        pa.RecordBatchReader.from_batches(event_schema(), batches),
        folder,
        filesystem=lake.filesystem,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([(_DAY, pa.string())]), flavor="hive"),
        file_options=ds.ParquetFileFormat().make_write_options(compression="zstd"),
        # Another try of a task writes other files: the driver knows whose were the last.
        basename_template=f"{uuid4().hex[:12]}-{{i}}.parquet",
        existing_data_behavior="overwrite_or_ignore",
        # On S3 each would be an empty object.
        create_dir=lake.is_local,
        max_rows_per_file=_ROWS_A_FILE,
        max_rows_per_group=rows_a_group,
        file_visitor=note,
    )
    return files
