"""Writer of a batch's events to the lake, before the transaction that makes them visible."""

from collections.abc import Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage.lake.manifest import Folder
from lineage.lake.reading import event_schema
from lineage.lake.storage import Lake
from slis.lake.committing import group_files
from slis.lake.files import File, write_table
from slis.lake.listing import ROWS_FILE
from slis.lake.names import FolderName


def write_raw(events: pa.Table, lake: Lake, name: FolderName) -> list[Folder]:
    """Write events without Spark, and return the rows to commit.

    Args:
        events: of `event_schema`.
        lake: to write to.
        name: of the folder.
    """
    return record_folders(write_table(events, lake, name.text), lake, name)


def record_folders(files: Sequence[File], lake: Lake, name: FolderName) -> list[Folder]:
    """Return the rows of what was written to a folder, and write them beside the files.

    A catalog that was lost, or restored from an older copy, finds its rows there: a folder without
    that file was not written to its end.
    """
    folders = group_files(files, name)
    if lake.is_local:
        lake.filesystem.create_dir(name.text)  # a batch may have no event
    with lake.filesystem.open_output_stream(f"{name.text}/{ROWS_FILE}") as stream:
        stream.write(msgspec.json.encode(folders))
    return folders


def as_received(events: pa.Table) -> pa.Table:
    """Return events of the spool, as `read_next_events` gives them, under the day they came on."""
    return _as_in_lake(events, pa.nulls(events.num_rows, pa.timestamp("ns")))


def with_times(events: pa.Table, times: Sequence[int | None]) -> pa.Table:
    """Return events of the log under the day of their time.

    Args:
        events: `spool_reader.SPOOL_COLUMNS`.
        times: of the same events, in the same order: microseconds since 1970; None: unknown.
    """
    return _as_in_lake(events, pa.array(times, pa.timestamp("us")).cast(pa.timestamp("ns")))


def _as_in_lake(events: pa.Table, event_time: pa.Array) -> pa.Table:
    schema = event_schema()
    received_at = events["received_at"].cast(pa.timestamp("us")).cast(pa.timestamp("ns"))
    columns = {
        **{name: events[name] for name in ("seq", "origin", "kind", "body")},
        "received_at": received_at,
        "event_time": event_time,
        # An event whose time cannot be read is kept under the day that it came.
        "event_date": pc.strftime(pc.coalesce(event_time, received_at), "%Y-%m-%d"),
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)
