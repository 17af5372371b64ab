"""Comparison of the events of a folder without a row with those that readers see.

Numbers do not suffice: a catalog that was restored from a copy gives the numbers of its lost
batches to other events of a topic.
"""

from collections.abc import Iterator, Sequence
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector

from lineage.lake.manifest import Folder
from lineage.lake.reading import read_events
from lineage.lake.storage import Lake

_DAY = "event_date="
_ROWS = 1_000  # compared at once: bodies of so many events are in memory


def has_copies(lake: Lake, batch: str, visible: Sequence[Folder], kept_from: date) -> bool:
    """Return whether visible folders have each event of a batch, by its body.

    Args:
        lake: of both.
        batch: the folder of the batch.
        visible: folders of the same range of events.
        kept_from: events of days before this one have passed their retention.
    """
    paths = _list_files(lake, batch, kept_from)
    return all(_are_visible(lake, visible, one) for path in paths for one in _read(lake, path))


def _list_files(lake: Lake, batch: str, kept_from: date) -> Iterator[str]:
    for info in lake.filesystem.get_file_info(FileSelector(batch, recursive=True)):
        day = info.path.rpartition("/")[0].rpartition(_DAY)[2]
        if info.is_file and info.extension == "parquet" and day >= kept_from.isoformat():
            yield info.path


def _read(lake: Lake, path: str) -> Iterator[pa.RecordBatch]:
    try:
        file = pq.ParquetFile(path, filesystem=lake.filesystem)
    except pa.ArrowInvalid:
        # Its process was killed before the end of the file: nobody can read an event from it.
        return
    with file:
        yield from file.iter_batches(_ROWS, columns=["seq", "body"])


def _are_visible(lake: Lake, visible: Sequence[Folder], events: pa.RecordBatch) -> bool:
    bounds = pc.min_max(events["seq"])
    in_range = (ds.field("seq") >= bounds["min"]) & (ds.field("seq") <= bounds["max"])
    found = read_events(lake, visible).to_table(columns=["body"], filter=in_range)
    return bool(pc.all(pc.is_in(events["body"], value_set=found["body"])).as_py())
