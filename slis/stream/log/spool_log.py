"""Spool of the collector as the pipeline's log: a file beside the pipeline, read by the driver."""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from importlib import import_module
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from sqlalchemy import Connection, Engine

from lineage.input_log.settings import SPOOL
from lineage.lake.storage import Lake
from lineage.process.clock import Clock, from_micros
from slis.lake.names import FolderName
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.log.from_lake import LakeReplay
from slis.stream.log.gaps import copy_gaps
from slis.stream.log.input_log import find_other_log, note_log, range_of
from slis.stream.log.restore import land_pruned
from slis.stream.log.spool_reader import (
    BatchLimits,
    last_seq_of,
    open_spool_to_read,
    read_next_events,
)
from slis.stream.merge.merge import MergeResult, cursor


class SpoolPortion(msgspec.Struct, frozen=True):
    """Events of the spool, which the driver has read."""

    events: pa.Table

    @property
    def after_seq(self) -> int:
        """Return the number behind which the batch begins."""
        return int(self.events["after_seq"][0].as_py())

    @property
    def last_seq(self) -> int:
        """Return the last number that the batch may hold."""
        return int(self.events["last_seq"][0].as_py())

    @property
    def count(self) -> int:
        """Return how many records the batch covers."""
        return int(self.events.num_rows)

    @property
    def ends(self) -> Mapping[int, int]:
        """Return nothing: `last_seq` is all that a spool needs."""
        return {}

    def table(self) -> pa.Table:
        """Return the events as `spool_reader.SPOOL_COLUMNS`."""
        return self.events

    def land(self, batches: Batches, spark: SparkSession | None) -> MergeResult:  # noqa: ARG002 - as `Portion`
        """Land the events."""
        return batches.land(self.events, range_of(self), self.store)

    def size(self) -> int:
        """Return the bytes of the bodies that were read."""
        return int(pc.sum(pc.binary_length(self.events["body"])).as_py())

    def store(self, connection: Connection) -> None:
        """Write nothing: the cursor, which every batch advances, is the position."""

    def write_beside(self, lake: Lake, name: FolderName) -> None:
        """Write nothing: the numbers of the folder are those of the spool."""


class SpoolLog:
    """Spool of one collector."""

    def __init__(self, place: SharedPaths, replaces: str = "") -> None:
        """Read nothing yet.

        Args:
            place: of the spool.
            replaces: the kind of log that the operator agrees to leave; empty: none.
        """
        self._place = place
        self._replaces = replaces

    @property
    def name(self) -> str:
        """Name the log for messages to operators."""
        return str(self._place.spool)

    @property
    def _shipped(self) -> Path:
        return self._place.spool.with_name("shipped.json")

    def is_ready(self) -> bool:
        """Return whether the collector has made its spool."""
        return is_ready(self._place.spool)

    def find_mismatch(self, engine: Engine) -> str | None:
        """Return why the catalog and the log do not belong together, and what to do."""
        if other := find_other_log(engine, SPOOL, self._replaces):
            return other
        if self._shipped.exists():
            return (
                f"{self._shipped} says that a shipper has read this spool. Events that wait in the "
                'topic would be skipped. Follow "Change the log" in docs/kafka-log.md: move the '
                "spool and this file away together."
            )
        with engine.connect() as connection:
            at = cursor(connection)
        with closing(open_spool_to_read(self._place.spool)) as spool:
            last = last_seq_of(spool)
        if at <= last:
            return None
        return (
            f"the catalog has taken events up to {at}, but {self._place.spool} has given "
            f"out {last} only: it is another spool, "
            "or an older copy. New events would be taken for old ones. Bring the spool "
            "back that belongs to this catalog, or "
            "start with an empty catalog."
        )

    def adopt(self, engine: Engine) -> None:
        """Note that a spool feeds the catalog."""
        note_log(engine, SPOOL)

    def catch_up(self, batches: Batches, place: SharedPaths, rows: int, now: datetime) -> None:
        """Land from the lake what the catalog lacks and the log has deleted."""
        land_pruned(LakeReplay(place, batches, rows, now), place)

    def read_next(
        self, engine: Engine, limits: Callable[[int], BatchLimits]
    ) -> SpoolPortion | None:
        """Return what the next batch takes; None where nothing waits."""
        with engine.connect() as connection:
            at = cursor(connection)
        events = read_next_events(self._place.spool, at, limits(at))
        return SpoolPortion(events) if events.num_rows else None

    def backlog_since(self, engine: Engine) -> datetime | None:
        """Return when the oldest event that has not landed was received."""
        return backlog_since(self._place.spool, engine)

    def copy_gaps(self, engine: Engine, now: int) -> bool:
        """Bring the catalog's ingestion gaps up to date; return whether any changed."""
        return copy_gaps(self._place.spool, engine, now)

    def count_received(self, engine: Engine, clock: Clock) -> bool:
        """Count what was received since the last call."""
        # At its first use, as the evaluation: the stream is up before.
        count = import_module("slis.indicators.error_rate").count_received
        return bool(count(engine, self._place.spool, clock))


def is_ready(spool: Path) -> bool:
    """Return whether the collector has made its spool."""
    if not spool.exists():
        return False
    with closing(open_spool_to_read(spool)) as connection:
        made = "SELECT count(*) FROM sqlite_master WHERE name = 'event'"
        return bool(connection.execute(made).fetchone()[0])


def backlog_since(spool: Path, engine: Engine) -> datetime | None:
    """Return when the oldest event that has not landed was received; None where none waits."""
    if not spool.exists():
        return None
    with engine.connect() as connection:
        at = cursor(connection)
    with closing(open_spool_to_read(spool)) as connected:
        row = connected.execute(
            "SELECT received_at FROM event WHERE seq > ? ORDER BY seq LIMIT 1", (at,)
        ).fetchone()
    return None if row is None else from_micros(row[0])
