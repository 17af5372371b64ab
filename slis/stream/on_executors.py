"""Batch that executors read: they extract the facts of its events, and write these to the lake.

No body passes the driver. One pass over the records does both.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from lineage.event_log.records import EVENTS
from lineage.lake.storage import Lake
from slis.lake.batches import with_times
from slis.lake.files import File, write_batches
from slis.stream.facts import Facts, extract_from_table, join_facts

Other = tuple[str, bytes]  # kind and body of a row that is no event
Note = Callable[[list[Other]], None]
_FOUND: Final = "found binary"


class Found(msgspec.Struct):
    """What a task, or all of them, made of the records of a batch.

    Attributes:
        facts: of the events.
        files: of the lake, which hold the events.
        others: rows that are no events.
    """

    facts: Facts
    files: list[File]
    others: list[Other]


def extract_on_executors(records: DataFrame, lake: Lake, folder: str) -> Found:
    """Extract the facts, and write the events to a folder of the lake.

    Args:
        records: `source.SPOOL_EVENT`, and rows of other kinds beside the events.
        lake: where every executor reaches it.
        folder: of this batch alone.
    """
    rows = records.mapInArrow(
        partial(extract_from_partition, lake=lake, folder=folder), _FOUND
    ).toArrow()
    parts = [msgspec.json.decode(text, type=Found) for text in rows["found"].to_pylist()]
    return Found(
        join_facts([part.facts for part in parts]),
        [file for part in parts for file in part.files],
        [other for part in parts for other in part.others],
    )


def extract_from_partition(
    batches: Iterable[pa.RecordBatch], lake: Lake, folder: str
) -> Iterator[pa.RecordBatch]:
    """Yield one row with what a task found, as JSON."""
    parts: list[Facts] = []
    others: list[Other] = []

    def events() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            is_event = pc.is_in(batch.column("kind"), pa.array(EVENTS))
            rest = batch.filter(pc.invert(is_event))
            bodies = rest.column("kind").to_pylist(), rest.column("body").to_pylist()
            others.extend(zip(*bodies, strict=True))
            found = batch.filter(is_event)
            parts.append(extract_from_table(found))
            yield from with_times(pa.table(found), parts[-1].events).to_batches()

    files = write_batches(events(), lake, folder)
    text = msgspec.json.encode(Found(join_facts(parts), files, others))
    yield pa.record_batch([pa.array([text], pa.binary())], names=["found"])
