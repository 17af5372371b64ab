"""Lands from the lake what the catalog lacks and the spool no longer has.

A catalog that was restored from a copy, or is new, ends before the events that the spool still
holds. The lake has the events in between.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import structlog
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from lineage.catalog.engine import in_turn
from lineage.lake import Folder, every, uncovered
from slis import jvm_memory
from slis.settings import Place
from slis.stream.batch import Batches
from slis.stream.merge import advance, cursor
from slis.stream.missing import note_missing
from slis.stream.source import SPOOL_EVENT, last_seq_of, open_spool

log = structlog.get_logger(__name__)

QUERY = "restore"  # in place of a checkpoint's id
_MOST_BYTES = 64 << 20  # of bodies in one piece: the driver holds several copies of them


def catch_up(
    spark: SparkSession, engine: Engine, place: Place, batches: Batches, max_rows: int
) -> None:
    """Land what the lake has of the events that the spool has deleted; log what is missing.

    Args:
        spark: the session.
        engine: of the catalog.
        place: of spool and lake.
        batches: lands frames that the lake has already.
        max_rows: events a piece, at most.
    """
    with engine.connect() as connection:
        at = cursor(connection)
    pruned = pruned_through(place.spool)
    for folder in _needed(place.lake, at, pruned):
        _note_hole(engine, place, at, min(folder.first_seq - 1, pruned))
        for low, high in _pieces(folder, at, max_rows):
            try:
                batches.land(_events(spark, folder, low, high), QUERY, high)
            finally:
                jvm_memory.free()
        at = max(at, folder.last_seq)
        with in_turn(engine) as connection:
            advance(connection, at)
        log.info("events_restored", folder=folder.path.name, last_seq=at)
    _note_hole(engine, place, at, pruned)


def pruned_through(spool: Path) -> int:
    """The last `seq` up to which the spool has deleted every event.

    Where the collector did not note it yet, whatever comes before the first event.
    """
    with closing(open_spool(spool)) as connection:
        try:
            noted = connection.execute("SELECT through_seq FROM pruned").fetchone()
        except sqlite3.OperationalError:  # a spool of an older release
            noted = None
        if noted is not None:
            return int(noted[0])
        first = connection.execute("SELECT min(seq) FROM event").fetchone()[0]
        return last_seq_of(connection) if first is None else int(first) - 1


def _needed(lake: Path, at: int, pruned: int) -> list[Folder]:
    """Folders with events behind `at` that the spool does not have, or that begin before it."""
    there = [folder for folder in every(lake) if folder.first_seq <= max(at, pruned)]
    return [folder for folder in uncovered(there) if folder.last_seq > at]


def _note_hole(engine: Engine, place: Place, at: int, last_seq: int) -> None:
    if last_seq > at:
        note_missing(engine, place, at + 1, last_seq)


def _pieces(folder: Folder, at: int, max_rows: int) -> Iterator[tuple[int, int]]:
    """Ranges (low, high] of a folder's events behind `at`, bounded in rows and bytes."""
    body = pc.binary_length(ds.field("body"))
    scanner = ds.dataset(folder.path, format="parquet").scanner(
        columns={"seq": ds.field("seq"), "bytes": body}, filter=ds.field("seq") > at
    )
    sizes = scanner.to_table().sort_by("seq")
    low, last, rows, total = at, at, 0, 0
    for seq, size in zip(sizes["seq"].to_pylist(), sizes["bytes"].to_pylist(), strict=True):
        if rows and (rows == max_rows or total + size > _MOST_BYTES):
            yield low, last
            low, rows, total = last, 0, 0
        last, rows, total = seq, rows + 1, total + size
    if rows:
        yield low, folder.last_seq


def _events(spark: SparkSession, folder: Folder, low: int, high: int) -> DataFrame:
    """Events of the lake as the spool's source gives them."""
    # By Arrow: Spark cannot read the timestamps of a compacted folder.
    wanted = (ds.field("seq") > low) & (ds.field("seq") <= high)
    columns = ["seq", "received_at", "origin", "kind", "body"]
    found = ds.dataset(folder.path, format="parquet").to_table(columns=columns, filter=wanted)
    received = found["received_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    found = found.set_column(1, "received_at", received)
    for name, bound in (("after_seq", low), ("last_seq", high)):
        found = found.append_column(name, pa.array([bound] * found.num_rows, pa.int64()))
    return spark.createDataFrame(found, SPOOL_EVENT)
