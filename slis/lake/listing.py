"""List of the batches in the lake itself, for a catalog that lacks their rows.

Only a pipeline that starts and retention list the lake: readers go by the manifest.
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

import msgspec
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType

from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from slis.lake.committing import group_files
from slis.lake.files import File
from slis.lake.names import FolderName, parse_name

ROWS_FILE: Final = "_rows.json"
_DAY: Final = "event_date="
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class LakeBatch(msgspec.Struct, frozen=True):
    """Batch in the lake, with the folders of its days."""

    name: FolderName
    folders: tuple[Folder, ...]


def list_names(lake: Lake) -> list[FolderName]:
    """Return the names of all folders of batches, committed or not, in the order of events."""
    selector = FileSelector("", allow_not_found=True)
    infos = lake.filesystem.get_file_info(selector)
    parsed = (parse_name(info.base_name) for info in infos if info.type == FileType.Directory)
    return sorted((name for name in parsed if name is not None), key=_order)


def _order(name: FolderName) -> tuple[int, int, str]:
    return name.first_seq, -name.last_seq, name.text


def read_batches(lake: Lake, names: Iterable[FolderName], today: date) -> list[LakeBatch]:
    """Return the batches of these names, without those that were not written to their end."""
    found = ((name, _read_folders(lake, name, today)) for name in names if not name.is_unfinished)
    return [LakeBatch(name, tuple(folders)) for name, folders in found if folders is not None]


def _read_folders(lake: Lake, name: FolderName, today: date) -> list[Folder] | None:
    if name.owner is None:
        return group_files(_list_files(lake, name, today), name)
    try:
        with lake.filesystem.open_input_stream(f"{name.text}/{ROWS_FILE}") as stream:
            written = msgspec.json.decode(stream.read(), type=list[Folder])
        return [folder for folder in written if _is_there(lake, folder)]
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _is_there(lake: Lake, folder: Folder) -> bool:
    """Return whether retention has left a day of the batch."""
    infos = lake.filesystem.get_file_info(folder.file_paths)
    return all(info.is_file for info in infos)


def _list_files(lake: Lake, name: FolderName, today: date) -> Iterable[File]:
    """Yield the files of a folder that an older release wrote."""
    selector = FileSelector(name.text, recursive=True)
    for info in lake.filesystem.get_file_info(selector):
        day = info.path.rpartition("/")[0].rpartition(_DAY)[2]
        if info.is_file and info.extension == "parquet":
            # What Spark calls an event without a day would never be deleted.
            day = day if _DATE.fullmatch(day) else today.isoformat()
            rows = pq.read_metadata(info.path, filesystem=lake.filesystem).num_rows
            yield File(info.path, day, rows, info.size)
