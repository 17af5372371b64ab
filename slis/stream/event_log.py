"""Log from which the pipeline takes its events, and the part of the log that a batch takes."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection, Engine

from lineage.clock import Clock
from slis.stream.batch import Batches
from slis.stream.source import Bounds


class LogMismatchError(Exception):
    """Error for a log that is not the one that the catalog has read: this pipeline stops."""


class Portion(Protocol):
    """Events of one batch, and the position of the log behind them."""

    @property
    def after_seq(self) -> int:
        """Return the number behind which the batch begins."""

    @property
    def last_seq(self) -> int:
        """Return the last number that the batch may hold."""

    @property
    def count(self) -> int:
        """Records of the log that the batch covers; one record cannot be halved."""

    @property
    def ends(self) -> Mapping[int, int]:
        """Return where the batch ends in each partition; empty for a log without partitions."""

    def table(self) -> pa.Table:
        """Return the events as `source.SPOOL_COLUMNS`."""

    def held(self) -> pa.Table | None:
        """Return what `table` does, where the driver has the events already."""

    def frame(self, spark: SparkSession) -> AbstractContextManager[DataFrame | None]:
        """Give the events as `source.SPOOL_EVENT`, inside the context; None where there is none."""

    def size(self) -> int:
        """Return the bytes of the bodies that `table` or `frame` gave."""

    def store(self, connection: Connection) -> None:
        """Write what goes with the events, and the position, in the transaction of the batch."""


class EventLog(Protocol):
    """Log in which events wait until a batch takes them."""

    @property
    def name(self) -> str:
        """Name the log for messages to operators."""

    def is_ready(self) -> bool:
        """Return whether the log can be read."""

    def find_mismatch(self, engine: Engine) -> str | None:
        """Return why the catalog and the log do not belong together, and what to do."""

    def adopt(self, engine: Engine) -> None:
        """Note that this log feeds the catalog from now on."""

    def catch_up(self, spark: SparkSession, batches: Batches, rows: int, now: datetime) -> None:
        """Land from the lake what the catalog lacks and the log has deleted.

        Args:
            spark: the session.
            batches: lands frames whose events are history.
            rows: events a piece, at most.
            now: by the pipeline's clock.
        """

    def read_next(self, engine: Engine, bounds: Callable[[int], Bounds]) -> Portion | None:
        """Return what the next batch takes; None where no record waits.

        Args:
            engine: of the catalog, which has the position.
            bounds: gives the bounds of a batch that begins behind a number.
        """

    def backlog_since(self, engine: Engine) -> datetime | None:
        """Return when the oldest event that has not landed was received; None: none waits."""

    def copy_gaps(self, engine: Engine, now: int) -> bool:
        """Bring the catalog's ingestion gaps up to date; return whether that changed anything."""

    def count_received(self, engine: Engine, clock: Clock) -> bool:
        """Count what was received since the last call; return whether there was anything."""
