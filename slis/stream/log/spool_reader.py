"""Reader of the collector's spool in ranges of `seq`, as Arrow tables.

The order of `seq` is the order of commits, since the spool has one writer: a range once seen never
gets a row more.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

SPOOL_COLUMNS = pa.schema(
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
_SIZES = "SELECT seq, length(body) FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
_READ = (
    "SELECT seq, received_at, origin, kind, body FROM event WHERE seq > ? AND seq <= ? ORDER BY seq"
)
# Bodies of a record batch are copied at once.
_RECORD_BATCH_BYTES = 32 << 20
_RECORD_BATCH_ROWS = 10_000
_BODY = SPOOL_COLUMNS.names.index("body")
_END = (1 << 63) - 1


class BatchLimits(msgspec.Struct, frozen=True):
    """Limits of one batch; a single event always fits.

    Attributes:
        rows: events, at most.
        size: bytes of their bodies, at most.
        until: the last `seq`, at most.
        ends: where a range that failed ends in each partition of a log that has partitions; empty:
            as far as the log goes.
    """

    rows: int
    size: int
    until: int = _END
    ends: dict[int, int] = {}


def open_spool_to_read(path: Path | str) -> sqlite3.Connection:
    """Open a read-only connection; the collector is the one writer."""
    return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def last_seq_of(spool: sqlite3.Connection) -> int:
    """Return the last `seq` that the spool gave out, even where its row is pruned."""
    row = spool.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return 0 if row is None else int(row[0])


def last_seq_within(spool: sqlite3.Connection, after_seq: int, limits: BatchLimits) -> int:
    """Return the last `seq` of the next batch; `after_seq` itself where no event waits."""
    last_seq, size = after_seq, 0
    for seq, length in spool.execute(_SIZES, (after_seq, limits.until, limits.rows)):
        size += length
        if size > limits.size and last_seq != after_seq:
            break
        last_seq = seq
    return last_seq


def read_next_events(path: Path, after_seq: int, limits: BatchLimits) -> pa.Table:
    """Return the events of the next batch, in record batches of bounded size.

    Args:
        path: of the spool.
        after_seq: the batch begins behind this event.
        limits: of the batch.
    """
    with closing(open_spool_to_read(path)) as spool:
        last_seq = last_seq_within(spool, after_seq, limits)
        rows = spool.execute(_READ, (after_seq, last_seq))
        bounded = ((*row, after_seq, last_seq) for row in rows)
        return pa.Table.from_batches(list(record_batches(bounded)), SPOOL_COLUMNS)


def record_batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    """Yield rows of `SPOOL_COLUMNS` in pieces of bounded size."""
    for piece in _pieces(rows):
        arrays = [
            pa.array(values, field.type)
            for values, field in zip(zip(*piece, strict=True), SPOOL_COLUMNS, strict=True)
        ]
        yield pa.record_batch(arrays, schema=SPOOL_COLUMNS)


def _pieces(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    piece: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        length = len(row[_BODY])
        if piece and (size + length > _RECORD_BATCH_BYTES or len(piece) == _RECORD_BATCH_ROWS):
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += length
    if piece:
        yield piece
