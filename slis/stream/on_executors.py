"""Batch that executors read: they extract the facts of its events, and write these to the lake.

No body passes the driver. One pass over the records does both.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from lineage.input_log.records import EVENT_KINDS
from lineage.lake.storage import Lake
from slis.lake.batches import with_times
from slis.lake.files import File, write_batches
from slis.spark.garbage_collection import no_search
from slis.stream.facts import Facts, extract_from_table, join_facts, times_of

Other = tuple[str, bytes]  # kind and body of a row that is no event
Note = Callable[[list[Other]], None]
# Of parts of a batch: their records as `spool_reader.SPOOL_COLUMNS`, of events and of other kinds.
BatchReader = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_FOUND_SCHEMA: Final = "found binary"
_FASTEST: Final = 1


class TaskResult(msgspec.Struct):
    """Result of one task of a batch, or of all of them.

    Attributes:
        facts: of the events.
        files: of the lake, which hold the events.
        others: rows that are no events.
    """

    facts: Facts
    files: list[File]
    others: list[Other]


def extract_on_executors(
    parts: DataFrame, read: BatchReader, lake: Lake, folder: str
) -> TaskResult:
    """Extract the facts, and write the events to a folder of the lake.

    Args:
        parts: of the batch, one row each.
        read: reads the records of parts.
        lake: where every executor reaches it.
        folder: of this batch alone.
    """
    rows = parts.mapInArrow(
        partial(extract_from_partition, read=read, lake=lake, folder=folder), _FOUND_SCHEMA
    ).toArrow()
    with no_search():
        found = [decode_found(text) for text in rows["found"].to_pylist()]
    return TaskResult(
        join_facts([part.facts for part in found]),
        [file for part in found for file in part.files],
        [other for part in found for other in part.others],
    )


def extract_from_partition(
    parts: Iterable[pa.RecordBatch], read: BatchReader, lake: Lake, folder: str
) -> Iterator[pa.RecordBatch]:
    """Yield one row with what a task found, as JSON that is compressed."""
    with no_search():
        packed = _extract_and_write(parts, read, lake, folder)
    yield pa.record_batch([pa.array([packed], pa.binary())], names=["found"])


def _extract_and_write(
    parts: Iterable[pa.RecordBatch], read: BatchReader, lake: Lake, folder: str
) -> bytes:
    facts: list[Facts] = []
    others: list[Other] = []

    def events() -> Iterator[pa.RecordBatch]:
        for batch in read(parts):
            is_event = pc.is_in(batch.column("kind"), pa.array(EVENT_KINDS))
            rest = batch.filter(pc.invert(is_event))
            bodies = rest.column("kind").to_pylist(), rest.column("body").to_pylist()
            others.extend(zip(*bodies, strict=True))
            found = batch.filter(is_event)
            facts.append(extract_from_table(found))
            yield from with_times(pa.table(found), times_of(facts[-1])).to_batches()

    files = write_batches(events(), lake, folder)
    text = msgspec.json.encode(TaskResult(join_facts(facts), files, others))
    # Facts may be larger than bodies, and Spark bounds what all tasks send to the driver.
    return zlib.compress(text, _FASTEST)


def decode_found(packed: bytes) -> TaskResult:
    """Return what a task found."""
    return msgspec.json.decode(zlib.decompress(packed), type=TaskResult)
