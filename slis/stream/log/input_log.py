"""Log from which the pipeline takes its events, and the part of the log that a batch takes.

One kind of log feeds a catalog. Spool and topic number their records each on its own: the position
in one says nothing of the other.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Protocol

import pyarrow as pa
from pyspark.sql import SparkSession
from sqlalchemy import Connection, Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.epochs import StaleEpochError
from lineage.catalog.meta_keys import LOG
from lineage.input_log.settings import SPOOL
from lineage.lake.storage import Lake
from lineage.process.clock import Clock
from slis.lake.identity import LakeMismatchError
from slis.lake.names import FolderName
from slis.meta import put_meta, read_meta
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import LogRange, MergeResult, RangeMismatchError, cursor

LOG_QUERY_ID: Final = "spool"  # `batch.query_id` of every log: there is no streaming query

KAFKA: Final = "kafka"
_NAMES = {SPOOL: "the spool", KAFKA: "a topic of Kafka"}


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
        """Return the events as `spool_reader.SPOOL_COLUMNS`."""

    def land(self, batches: Batches, spark: SparkSession | None) -> MergeResult | None:
        """Land the events; None where there is none.

        Args:
            batches: lands them.
            spark: None: the driver reads all of them.

        Raises:
            RangeMismatchError: as `Batches.land`.
            StaleEpochError: as `Batches.land`.
        """

    def size(self) -> int:
        """Return the bytes of the bodies that were read."""

    def store(self, connection: Connection) -> None:
        """Write what goes with the events, and the position, in the transaction of the batch."""

    def write_beside(self, lake: Lake, name: FolderName) -> None:
        """Write to the folder of the events what a restored catalog needs to land them."""


def range_of(portion: Portion) -> LogRange:
    """Return what the batch holds, as the catalog names it."""
    return LogRange(LOG_QUERY_ID, portion.last_seq, portion.after_seq, portion.last_seq)


class InputLog(Protocol):
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

    def catch_up(self, batches: Batches, place: SharedPaths, rows: int, now: datetime) -> None:
        """Land from the lake what the catalog lacks and the log has deleted.

        Args:
            batches: lands events that are history.
            place: of the pipeline.
            rows: events a piece, at most.
            now: by the pipeline's clock.
        """

    def read_next(self, engine: Engine, limits: Callable[[int], BatchLimits]) -> Portion | None:
        """Return what the next batch takes; None where no record waits.

        Args:
            engine: of the catalog, which has the position.
            limits: gives the limits of a batch that begins behind a number.
        """

    def backlog_since(self, engine: Engine) -> datetime | None:
        """Return when the oldest event that has not landed was received; None: none waits."""

    def copy_gaps(self, engine: Engine, now: int) -> bool:
        """Bring the catalog's ingestion gaps up to date; return whether that changed anything."""

    def count_received(self, engine: Engine, clock: Clock) -> bool:
        """Count what was received since the last call; return whether there was anything."""


def find_other_log(engine: Engine, kind: str, replaces: str) -> str | None:
    """Return which other kind of log has fed the catalog, and what to do.

    Args:
        engine: of the catalog.
        kind: of the log that is to feed the catalog.
        replaces: the kind that the operator agrees to leave; empty: none.
    """
    with engine.connect() as connection:
        before = _read_kind(connection)
    if before in {None, kind, replaces}:
        return None
    return (
        f"{_NAMES[before]} has fed this catalog, but LINEWARD_LOG names {_NAMES[kind]}. The "
        "position of one log does not fit the other: events would be skipped, or land twice. Set "
        'LINEWARD_LOG as it was, or follow "Change the log" in docs/kafka-log.md, of which the '
        f"last step is LINEWARD_LOG_REPLACES={before}."
    )


def note_log(engine: Engine, kind: str) -> None:
    """Note that this kind of log feeds the catalog from now on."""
    with engine.connect() as connection:
        is_noted = read_meta(connection, LOG) == kind
    if not is_noted:
        with exclusive_transaction(engine) as connection:
            put_meta(connection, {LOG: kind})


def _read_kind(connection: Connection) -> str | None:
    """Return what was noted; a catalog of an older release shows it by its positions."""
    if kind := read_meta(connection, LOG):
        return kind
    if connection.scalar(select(tables.log_position.c.topic).limit(1)) is not None:
        return KAFKA
    return SPOOL if cursor(connection) else None


# Another pipeline works on the catalog, or the log or the lake is another one.
STOPPING: Final = (RangeMismatchError, StaleEpochError, LakeMismatchError, LogMismatchError)
