"""Batches in a lake and in its manifest, stored without Spark."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import Engine

from lineage.catalog.engine import exclusive_transaction
from lineage.lake.manifest import Folder, list_folders, query_function
from lineage.lake.reading import event_schema, read_events
from lineage.lake.storage import Lake, open_lake
from slis.lake.batches import write_raw
from slis.lake.names import BATCH
from slis.lake.writer import LakeWriter
from slis.stream.merge.merge import advance_cursor

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def writer_of(engine: Engine, lake: Lake | Path, now: datetime = NOON) -> LakeWriter:
    """Return a writer of this lake, or of the one in this data folder."""
    opened = lake if isinstance(lake, Lake) else open_lake(lake)
    return LakeWriter(engine, opened, lambda: now)


def event_row(seq: int, at: datetime | None = NOON, **given: object) -> dict[str, Any]:
    """Return an event as a row of the lake."""
    received = given.pop("received_at", NOON)
    assert isinstance(received, datetime)
    received = received.replace(tzinfo=None)
    time = None if at is None else at.replace(tzinfo=None)
    row = {"seq": seq, "received_at": received, "origin": "http", "kind": "run"}
    row |= {"event_time": time, "body": str(seq).encode()}
    row["event_date"] = (time or received).date().isoformat()
    return row | given


def write(writer: LakeWriter, *rows: dict[str, Any]) -> list[Folder]:
    """Write a batch of events, and commit nothing."""
    name = writer.name_folder(BATCH, rows[0]["seq"], rows[-1]["seq"])
    return write_raw(pa.Table.from_pylist(list(rows), event_schema()), writer.lake, name)


def lay(writer: LakeWriter, *rows: dict[str, Any]) -> list[Folder]:
    """Write and commit a batch of events; the catalog then ends at the last of them."""
    folders = write(writer, *rows)
    commit(writer, folders, last_seq=rows[-1]["seq"])
    return folders


def with_two_days(writer: LakeWriter) -> LakeWriter:
    """Lay two batches of two days; one event is without a time."""
    lay(writer, event_row(1), event_row(2, NOON - timedelta(days=1)))
    lay(writer, event_row(3), event_row(4, None))
    return writer


def commit(writer: LakeWriter, folders: Sequence[Folder], *, last_seq: int | None = None) -> None:
    """Commit folders as their batch does; the catalog then ends at `last_seq`, where given."""
    _ = writer.started
    with exclusive_transaction(writer.engine) as connection:
        writer.commit(connection, folders)
        if last_seq is not None:
            advance_cursor(connection, last_seq)


def visible(writer: LakeWriter) -> list[Folder]:
    """Return the folders that readers see."""
    with writer.engine.connect() as connection:
        return list_folders(query_function(connection))


def read_seqs(writer: LakeWriter, folders: Sequence[Folder] | None = None) -> list[int]:
    """Return the events that readers see."""
    found = visible(writer) if folders is None else folders
    return sorted(read_events(writer.lake, found).to_table(["seq"])["seq"].to_pylist())
