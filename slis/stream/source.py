"""Spark reads the collector's spool: a Python Data Source over SQLite, in ranges of `seq`.

The order of `seq` is the order of commits, since the spool has one writer: a range once seen never
gets a row more.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

SPOOL_EVENT = (
    "seq bigint, received_at bigint, origin string, kind string, body binary, after_seq bigint, "
    "last_seq bigint"
)
_ARROW = pa.schema(
    [
        ("seq", pa.int64()),
        ("received_at", pa.int64()),
        ("origin", pa.string()),
        ("kind", pa.string()),
        ("body", pa.binary()),
        ("after_seq", pa.int64()),
        ("last_seq", pa.int64()),
    ]
)
_READ = (
    "SELECT seq, received_at, origin, kind, body FROM event WHERE seq > ? AND seq <= ? ORDER BY seq"
)
_ROWS_A_RECORD_BATCH = 2_000


def open_spool(path: Path | str) -> sqlite3.Connection:
    """A connection that can only read; the collector is the one writer."""
    return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def last_seq_after(path: str, after_seq: int, max_rows: int | None) -> int:
    """The last `seq` of the next `max_rows` events behind `after_seq`.

    `after_seq` itself when there is none.
    """
    with closing(open_spool(path)) as spool:
        row = spool.execute(
            "SELECT max(seq) FROM (SELECT seq FROM event WHERE seq > ? ORDER BY seq LIMIT ?)",
            (after_seq, -1 if max_rows is None else max_rows),
        ).fetchone()
    return after_seq if row[0] is None else int(row[0])


def last_seq_of(spool: sqlite3.Connection) -> int:
    """The last `seq` that the spool gave out, even where its row is pruned."""
    row = spool.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return 0 if row is None else int(row[0])


class SpoolRange(InputPartition):
    """The part (start, end] of a batch (after_seq, last_seq] that one task reads."""

    def __init__(self, start: int, end: int, after_seq: int, last_seq: int) -> None:
        super().__init__(None)
        self.start = start
        self.end = end
        self.after_seq = after_seq
        self.last_seq = last_seq


class SpoolSource(DataSource):
    """`spark.readStream.format("spool")`.

    Options: `path` of the spool; `after_seq`, where a query without a checkpoint begins (the
    catalog's cursor, so that a lost
    checkpoint neither skips nor doubles); `max_rows` a batch; `partitions` a batch.
    """

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return "spool"

    def schema(self) -> str:
        """The spool's event, and the range of the batch that it is read in."""
        return SPOOL_EVENT

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's signature
        """The reader that Spark drives."""
        return SpoolReader(self.options)


class SpoolReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are `{"seq": n}`: everything up to and with n was read."""

    def __init__(self, options: Any) -> None:  # noqa: ANN401 - Spark's case-insensitive map
        self.path = str(options["path"])
        self.after_seq = int(options["after_seq"])
        self.max_rows = int(options["max_rows"])
        self.partition_count = int(options.get("partitions", "2"))
        self.target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Where the catalog stands; never 0 when it says otherwise."""
        return {"seq": self.after_seq}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Bounds what a batch brings to the driver."""
        return ReadMaxRows(self.max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Fix the end of this run: what comes later is left for the next."""
        self.target = last_seq_after(self.path, 0, None)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """The end of the next batch."""
        rows = (
            None
            if isinstance(limit, ReadAllAvailable)
            else getattr(limit, "max_rows", self.max_rows)
        )
        last_seq = last_seq_after(self.path, start["seq"], rows)
        return {
            "seq": last_seq
            if self.target is None
            else max(start["seq"], min(last_seq, self.target))
        }

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Equal ranges of `seq`; few events are one: a second worker costs more than it reads."""
        after_seq, last_seq = start["seq"], end["seq"]
        step = max(-(-(last_seq - after_seq) // self.partition_count), _ROWS_A_RECORD_BATCH)
        return [
            SpoolRange(low, min(low + step, last_seq), after_seq, last_seq)
            for low in range(after_seq, last_seq, step)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of the range, as Arrow batches of 2,000."""
        if not isinstance(partition, SpoolRange):
            message = f"expected a SpoolRange, got {type(partition).__name__}"
            raise TypeError(message)
        with closing(open_spool(self.path)) as spool:
            cursor = spool.execute(_READ, (partition.start, partition.end))
            while rows := cursor.fetchmany(_ROWS_A_RECORD_BATCH):
                columns = [*zip(*rows, strict=True)]
                count = len(rows)
                columns += [(partition.after_seq,) * count, (partition.last_seq,) * count]
                yield pa.record_batch(
                    [
                        pa.array(column, field.type)
                        for column, field in zip(columns, _ARROW, strict=True)
                    ],
                    schema=_ARROW,
                )
