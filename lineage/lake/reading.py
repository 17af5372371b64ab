"""Reader of the lake's events, by its manifest."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

_Result = TypeVar("_Result")
_TRIES: Final = 3
# As S3 names an object that is absent, in the text of pyarrow's error.
_ABSENT: Final = ("NO_SUCH_KEY", "NoSuchKey", "RESOURCE_NOT_FOUND")
FILES_ABSENT: Final = (
    "files of the lake are absent: ask again, since the lake may have been compacted meanwhile. If"
    " that does not help, set LINEWARD_LAKE_URL or LINEWARD_DATA_DIR as for the pipeline"
)


class LakeChangedError(Exception):
    """Folders were deleted while they were read, each time that it was tried."""


def event_schema() -> "pa.Schema":
    """Return the columns of an event in the lake."""
    import pyarrow as pa  # noqa: PLC0415 - as in `read_events`

    # Nanoseconds without a zone, in UTC: as Spark wrote them in older releases.
    instant = pa.timestamp("ns")
    columns = {
        "seq": pa.int64(),
        "received_at": instant,
        "origin": pa.string(),
        "kind": pa.string(),
        "event_time": instant,
        "body": pa.binary(),
        "event_date": pa.string(),
    }
    return pa.schema(list(columns.items()))


def read_events(lake: Lake, folders: Iterable[Folder]) -> "ds.Dataset":
    """Return the events of these folders."""
    # With pandas, which it brings, 90 MiB: a service that reads no lake need not hold them.
    import pyarrow.dataset as ds  # noqa: PLC0415

    files = [(path, one.event_date) for one in folders for path in one.file_paths]
    return ds.FileSystemDataset.from_paths(
        [path for path, _ in files],
        schema=event_schema(),
        format=ds.ParquetFileFormat(),
        filesystem=lake.filesystem,
        partitions=[ds.field("event_date") == day for _, day in files],
    )


def read_again(
    list_now: Callable[[], Sequence[Folder]], read: Callable[[Sequence[Folder]], _Result]
) -> _Result:
    """Read the folders of the manifest; if one vanished meanwhile, those of the new manifest.

    Args:
        list_now: returns the folders of the manifest as it is now.
        read: reads them all. It is called again from the beginning.

    Raises:
        LakeChangedError: folders vanished in each of three tries.
    """
    for _ in range(_TRIES):
        try:
            return read(list_now())
        except OSError as error:
            if not is_absent(error):
                raise
            last = error
    raise LakeChangedError(FILES_ABSENT) from last


def is_absent(error: OSError) -> bool:
    """Return whether a file was absent, on a disk or on S3."""
    return isinstance(error, FileNotFoundError) or any(mark in str(error) for mark in _ABSENT)
