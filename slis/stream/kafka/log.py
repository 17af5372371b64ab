"""Topic of Kafka as the pipeline's log, for several collectors and executors on any machine."""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import structlog
from msgspec.structs import replace
from sqlalchemy import Engine

from lineage.input_log.settings import KafkaLog
from lineage.process.clock import Clock, from_micros, to_micros
from slis.indicators.error_rate import count_landed
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.kafka.client import LogReadError, Offsets, TopicState
from slis.stream.kafka.identity import find_other_topic, read_topic_id
from slis.stream.kafka.plan import BatchPlan, PartitionPosition, Range, plan_batch
from slis.stream.kafka.portion import RangeOpener, TopicPortion, read_on_driver
from slis.stream.kafka.range_reader import RangeReader
from slis.stream.kafka.restore import TopicReplay, is_restoring, lacks_records
from slis.stream.kafka.silence import SILENT_AFTER, find_unexcused, note_silence
from slis.stream.kafka.store import note_ends, read_landed, read_positions
from slis.stream.log.from_lake import LakeReplay
from slis.stream.log.input_log import KAFKA, LogMismatchError, find_other_log, note_log
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import cursor

log = structlog.get_logger(__name__)

_FIRST_MEAN_BYTES: Final = 4_096
_Offsets = Mapping[int, tuple[int, int]]  # of partitions: the first offset, and behind the last
_Positions = Mapping[int, PartitionPosition]


class TopicLog:
    """Topic as an `input_log.InputLog`."""

    def __init__(
        self,
        settings: KafkaLog,
        clock: Clock,
        *,
        most_bytes: int,
        offsets: Offsets | None = None,
        read: RangeOpener | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            settings: of the topic.
            clock: gives the time.
            most_bytes: of bodies in a batch, also of one that is tried again.
            offsets: of the partitions; None: those of the broker.
            read: reads a plan on the driver; None: from the broker.
        """
        self._settings = settings
        self._clock = clock
        self._most_bytes = most_bytes
        self._offsets = offsets or Offsets(settings)
        self._read_plan = read or read_on_driver(settings)
        self._lock = threading.Lock()  # one consumer: tasks beside the stream read as well
        self._last: TopicPortion | None = None
        self._mean_bytes = float(_FIRST_MEAN_BYTES)
        self._answered_at = clock()

    @property
    def name(self) -> str:
        """Name the log for messages to operators."""
        return f"{self._settings.bootstrap}/{self._settings.topic}"

    def is_ready(self) -> bool:
        """Return whether the broker answers, and has the topic."""
        return self._offsets.has_topic()

    def find_mismatch(self, engine: Engine) -> str | None:
        """Return how the topic was created again, or that a spool has fed the catalog.

        While Kafka does not answer nobody knows: each batch asks again.
        """
        other = find_other_log(engine, KAFKA, self._settings.settings.replaces)
        try:
            return other or self._mismatch(engine, self._find_state())
        except LogReadError:
            return None

    def adopt(self, engine: Engine) -> None:
        """Note that a topic feeds the catalog."""
        note_log(engine, KAFKA)

    def catch_up(self, batches: Batches, place: SharedPaths, rows: int, now: datetime) -> None:
        """Land from the lake what the catalog lacks and the topic has deleted.

        Raises:
            LogReadError: Kafka does not answer.
        """
        engine, topic, state = batches.writer.engine, self._settings.topic, self._find_state()
        if self._mismatch(engine, state):
            return  # the next batch stops the pipeline
        with engine.connect() as connection:
            known, is_cut_short = read_positions(connection, topic), is_restoring(connection, topic)
        if is_cut_short or lacks_records(known, state):
            TopicReplay(LakeReplay(place, batches, rows, now), topic, state).land()

    def read_next(
        self, engine: Engine, limits: Callable[[int], BatchLimits]
    ) -> TopicPortion | None:
        """Return what the next batch takes; None where nothing waits.

        Raises:
            LogReadError: Kafka does not answer.
            LogMismatchError: the topic was created again, or is another one.
        """
        self._learn_size()
        with engine.connect() as connection:
            at = cursor(connection)
            known = read_positions(connection, self._settings.topic)
            landed = read_landed(connection, self._settings.topic, known)
        state = self._find_state()
        if problem := self._mismatch(engine, state):
            raise LogMismatchError(problem)
        found = state.offsets
        ends = {number: end for number, (_, end) in found.items()}
        plan = plan_batch(at, _starts(known, found), ends, self._limit(limits(at)))
        if not plan.ranges:
            return None
        self._warn_of_lost(known, plan)
        self._last = TopicPortion(
            self._settings,
            plan,
            before=known,
            landed=landed,
            state=state,
            clock=self._clock,
            read=self._read,
        )
        return self._last

    def backlog_since(self, engine: Engine) -> datetime | None:
        """Return when the first record behind the position was received.

        While Kafka does not answer, events may wait since it last did. Events of a collector whose
        heartbeat is old may wait in its spool, until an ingestion gap covers that time.
        """
        try:
            oldest = self._oldest(engine)
        except LogReadError:
            return self._answered_at
        unexcused = find_unexcused(engine, to_micros(self._clock()))
        known = [oldest, None if unexcused is None else from_micros(unexcused)]
        return min((at for at in known if at is not None), default=None)

    def _oldest(self, engine: Engine) -> datetime | None:
        found = self._find_state().offsets
        starts = _starts(self._positions(engine), found)
        first = tuple(
            Range(number, at.next_offset, at.next_offset + 1, 0, 1)
            for number, at in starts.items()
            if at.next_offset < found[number][1]
        )
        if not first:
            return None
        received = (
            reader.summary().first_received_at for reader in self._read(BatchPlan(0, first))
        )
        return min((from_micros(at) for at in received if at is not None), default=None)

    def copy_gaps(self, engine: Engine, now: int) -> bool:
        """Write gaps of collectors that are silent now; they report what is over."""
        try:
            note_ends(engine, self._settings.topic, self._find_state().offsets)
            waiting = self._oldest(engine)
        except LogReadError:
            return False  # the silence is Kafka's
        if waiting is not None and from_micros(now) - waiting > SILENT_AFTER:
            return False  # heartbeats wait among the events
        return note_silence(engine, now)

    def count_received(self, engine: Engine, clock: Clock) -> bool:
        """Count what landed: rejected bodies are counted with their batch."""
        return count_landed(engine, clock)

    def _find_state(self) -> TopicState:
        found = self._offsets.read()
        self._answered_at = self._clock()
        return found

    def _read(self, plan: BatchPlan) -> list[RangeReader]:
        with self._lock:
            return self._read_plan(plan)

    def _positions(self, engine: Engine) -> dict[int, PartitionPosition]:
        with engine.connect() as connection:
            return read_positions(connection, self._settings.topic)

    def _limit(self, limits: BatchLimits) -> BatchLimits:
        """Plan no more records than the bytes have room for, by the size of the last events."""
        size = min(limits.size, self._most_bytes)
        # The records of a range that failed stay the same.
        fitting = limits.rows if limits.ends else max(1, int(size / self._mean_bytes))
        return replace(limits, size=size, rows=min(limits.rows, fitting))

    def _learn_size(self) -> None:
        if self._last is not None and self._last.events:
            self._mean_bytes = max(1.0, self._last.size() / self._last.events)
        self._last = None

    def _warn_of_lost(self, known: _Positions, plan: BatchPlan) -> None:
        for one in plan.ranges:
            if one.partition in known and one.start > known[one.partition].next_offset:
                log.error(
                    "events_missing",
                    topic=self._settings.topic,
                    partition=one.partition,
                    first_offset=known[one.partition].next_offset,
                    last_offset=one.start - 1,
                    reason="the topic deleted these records before the pipeline read them",
                    next="raise retention.ms and retention.bytes of the topic",
                )

    def _mismatch(self, engine: Engine, state: TopicState) -> str | None:
        topic = self._settings.topic
        with engine.connect() as connection:
            known_id, known = read_topic_id(connection, topic), read_positions(connection, topic)
        return find_other_topic(self.name, state, known_id, known)


def _starts(known: _Positions, found: _Offsets) -> dict[int, PartitionPosition]:
    """Return where to go on: at the position, or at the first record that the topic still has."""
    return {
        number: replace(at, next_offset=max(at.next_offset, first))
        for number, (first, _) in found.items()
        for at in [known.get(number, PartitionPosition(first))]
    }
