"""Topic of Kafka in memory: the shipper writes it, and the pipeline reads it."""

from typing import TYPE_CHECKING, Any
from zlib import crc32

from confluent_kafka import KafkaError, KafkaException

from lineage.input_log.records import read_record
from slis.stream.kafka.client import LogReadError, TopicState
from slis.stream.kafka.plan import BatchPlan
from slis.stream.kafka.range_reader import RangeReader

if TYPE_CHECKING:
    from collections.abc import Callable

TIMED_OUT, TOO_LARGE, FATAL = -192, 10, -150  # librdkafka's codes


class Topic:
    """Stand-in for the producer, the offsets and the reader of a plan.

    Attributes:
        partitions: records of each, as (headers, value).
        first: offset of the first record that is not deleted.
        dies_after: so many records are acknowledged, and no report of any arrives.
        most_bytes: of a value.
        is_fatal: whether the client rejects every record from now on.
        topic_id: given by Kafka when the topic was created.
        is_away: whether the broker does not answer readers.
    """

    def __init__(self, partitions: int = 3) -> None:
        self.partitions: list[list[tuple[Any, bytes]]] = [[] for _ in range(partitions)]
        self.first = [0] * partitions
        self.dies_after: int | None = None
        self.most_bytes = 1 << 20
        self.topic_id = "a1"
        self.is_away = self.is_fatal = False
        self._reports: list[Callable[[], None]] = []

    def produce(
        self,
        _topic: str,
        *,
        value: bytes,
        key: bytes,
        headers: list[tuple[str, bytes]],
        timestamp: int,  # noqa: ARG002 - as above
        on_delivery: "Callable[[KafkaError | None, object], None]",
    ) -> None:
        """Store a record, or not; the report comes with `flush`."""
        if self.is_fatal:
            raise KafkaException(KafkaError(FATAL))
        report = on_delivery
        if len(value) > self.most_bytes:
            self._reports.append(lambda: report(KafkaError(TOO_LARGE), None))
            return
        if self.dies_after is None or self.dies_after > 0:
            self.partitions[crc32(key) % len(self.partitions)].append((headers, value))
        if self.dies_after is not None:
            self.dies_after -= 1
            self._reports.append(lambda: report(KafkaError(TIMED_OUT), None))
        else:
            self._reports.append(lambda: report(None, None))

    def flush(self, _timeout: float) -> int:
        """Give all reports."""
        reports, self._reports = self._reports, []
        for report in reports:
            report()
        return 0

    def has_topic(self) -> bool:
        """Return that the topic is there."""
        return True

    def read(self) -> TopicState:
        """Return the id and the offsets of each partition."""
        if self.is_away:
            raise LogReadError("the Kafka log does not answer")
        listed = enumerate(self.partitions)
        offsets = {number: (self.first[number], len(records)) for number, records in listed}
        return TopicState(self.topic_id, offsets)

    def read_plan(self, plan: BatchPlan) -> list[RangeReader]:
        """Read all ranges."""
        readers = []
        for one in plan.ranges:
            assert one.start >= self.first[one.partition]
            reader = RangeReader(plan, one)
            for offset in range(one.start, len(self.partitions[one.partition])):
                reader.take(offset, read_record(*self.partitions[one.partition][offset]))
            readers.append(reader)
        return readers

    def records(self) -> list[Any]:
        """Return all records, by partition."""
        return [read_record(*one) for records in self.partitions for one in records]
