"""Batch of the topic: read by the driver where it is small, by executors otherwise."""

from collections.abc import Callable, Mapping
from functools import partial

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection

from lineage.input_log.records import Record
from lineage.input_log.settings import KafkaLog
from lineage.lake.storage import Lake
from lineage.process.clock import Clock
from slis.lake.names import FolderName
from slis.lake.positions import FolderBatch, FolderPosition, write_folder_position
from slis.stream.batch import Batches
from slis.stream.kafka.client import TopicState, open_consumer, read_on_executor, read_ranges
from slis.stream.kafka.identity import note_topic_id
from slis.stream.kafka.plan import BatchPlan, PartitionPosition
from slis.stream.kafka.range_reader import RANGE, RangeReader, RangeResult, events_of
from slis.stream.kafka.store import move_position, note_landed, store_lost, store_reports
from slis.stream.log.input_log import range_of
from slis.stream.merge.merge import MergeResult
from slis.stream.on_executors import Other

# A Spark job that starts Python workers costs more than the driver's reading of so many records.
_DRIVER_RECORDS = 1_000
RangeOpener = Callable[[BatchPlan], list[RangeReader]]


def read_on_driver(log: KafkaLog) -> RangeOpener:
    """Return what reads a whole plan in this process."""

    def read(plan: BatchPlan) -> list[RangeReader]:
        return read_ranges(open_consumer(log), log.topic, plan, plan.ranges)

    return read


class TopicPortion:
    """Planned batch, as an `input_log.Portion`."""

    def __init__(  # noqa: PLR0913 - by name
        self,
        log: KafkaLog,
        plan: BatchPlan,
        *,
        before: Mapping[int, PartitionPosition],
        landed: Mapping[int, int],
        state: TopicState,
        clock: Clock,
        read: RangeOpener,
    ) -> None:
        """Read nothing yet.

        Args:
            log: the topic.
            plan: what to read.
            before: positions of the catalog; a partition that was never read has none.
            landed: behind the last event of each partition that has landed.
            state: of the topic, when the batch was planned.
            clock: gives the time.
            read: reads a plan on the driver.
        """
        self._log = log
        self._plan = plan
        self._before = before
        self._landed = landed
        self._state = state
        self._clock = clock
        self._read = read
        self._is_small = plan.count <= _DRIVER_RECORDS
        self._taken: list[RangeResult] = []
        self._reports: list[Record] = []

    @property
    def after_seq(self) -> int:
        """Return the number behind which the batch begins."""
        return self._plan.after_seq

    @property
    def last_seq(self) -> int:
        """Return the last number that the batch may hold."""
        return self._plan.last_seq

    @property
    def count(self) -> int:
        """Return how many records the batch covers."""
        return self._plan.count

    @property
    def ends(self) -> Mapping[int, int]:
        """Return where the batch ends in each partition."""
        return self._plan.ends

    @property
    def events(self) -> int:
        """Events that were read."""
        return sum(one.events for one in self._taken)

    def size(self) -> int:
        """Return the bytes of the bodies that were read."""
        return sum(one.size for one in self._taken)

    def table(self) -> pa.Table:
        """Return the events as `spool_reader.SPOOL_COLUMNS`."""
        readers = self._read(self._plan)
        self._taken = [reader.summary() for reader in readers]
        self._reports = [report for reader in readers for report in reader.reports]
        return events_of(readers)

    def land(self, batches: Batches, spark: SparkSession | None) -> MergeResult | None:
        """Land the events; None where there is none."""
        # Executors need not share the driver's disk.
        if spark and not (self._is_small or batches.writer.lake.is_local):
            read = partial(read_on_executor, log=self._log)
            given = self.parts(spark), read, range_of(self)
            own = {"note": self._note, "store": self.store, "beside": self.write_beside}
            return batches.land_on_executors(*given, **own)  # type: ignore[arg-type]
        events = self.table()
        if not events.num_rows:
            batches.writer.pass_over(self.store)
            return None
        return batches.land(events, range_of(self), self.store, beside=self.write_beside)

    def store(self, connection: Connection) -> None:
        """Write what goes with the events, and the position."""
        now = self._clock()
        note_topic_id(connection, self._log.topic, self._state.topic_id)
        store_reports(connection, self._reports, now)
        for taken in self._taken:
            first, end = self._state.offsets[taken.partition]
            known = self._before.get(taken.partition)
            before = None if known is None else known.next_offset
            move_position(connection, self._log.topic, taken, before=before, end=end)
            if before is not None and first > before:
                store_lost(connection, first - before, taken.first_received_at, now)
        if self.events:
            ends = {one.partition: one.next_offset for one in self._taken}
            note_landed(connection, self._log.topic, {**self._landed, **ends})

    def write_beside(self, lake: Lake, name: FolderName) -> None:
        """Write which records the events of a folder of the lake are."""
        starts = {one.partition: one.start for one in self._plan.ranges}
        ends = {one.partition: one.next_offset for one in self._taken}
        position = FolderPosition(
            topic=self._log.topic,
            topic_id=self._state.topic_id,
            starts={number: self._landed.get(number, starts[number]) for number in ends},
            steps=(FolderBatch(name.last_seq, ends),),
            windows={one.partition: one.windows for one in self._taken},
        )
        write_folder_position(lake, name.text, position)

    def parts(self, spark: SparkSession) -> DataFrame:
        """Return the ranges of the plan, each for a task of its own."""
        # A record batch is what one task works on.
        schema = pa.schema([("range", pa.binary())])
        plan = self._plan.without_windows()  # else each task gets the windows of all partitions
        texts = [msgspec.json.encode((plan, one)) for one in self._plan.ranges]
        batches = [pa.record_batch([pa.array([text], pa.binary())], schema) for text in texts]
        return spark.createDataFrame(pa.Table.from_batches(batches, schema))

    def _note(self, found: list[Other]) -> None:
        self._taken = [
            msgspec.json.decode(body, type=RangeResult) for kind, body in found if kind == RANGE
        ]
        self._reports = [
            msgspec.json.decode(body, type=Record) for kind, body in found if kind != RANGE
        ]
