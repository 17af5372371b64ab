"""Reader of the topic's ranges by Kafka's client, on the driver and on executors alike."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

import msgspec
import pyarrow as pa
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec

from lineage.input_log.records import FOREIGN, read_record
from lineage.input_log.settings import KafkaLog
from lineage.process.environment import InvalidSettingError
from slis.stream.kafka.plan import BatchPlan, Range
from slis.stream.kafka.range_reader import RangeReader, as_rows

_CLIENT = {
    "enable.partition.eof": "true",
    # Waiting for a broker is no error; what lasts ends by our own deadline.
    "log_level": "2",
    "fetch.wait.max.ms": "100",
    "queued.max.messages.kbytes": "65536",
    "fetch.message.max.bytes": str(16 << 20),
}
# Of which an administrator's client knows nothing.
_OF_CONSUMERS = (
    *("group.id", "enable.auto.commit", "enable.auto.offset.store"),
    *("isolation.level", "auto.offset.reset"),
)
_EARLIEST, _LATEST = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
_NO_ID = "A" * 22  # zero in Base64: of a broker older than Kafka 2.8
_SECONDS = 30.0  # without a record
_ANSWER = 5.0  # seconds, of the administrator
_MESSAGES, _WAIT_SECONDS = 1_000, 0.2


class LogReadError(OSError):
    """Error for a Kafka log that cannot be read now: no event's fault, and tried again."""


class TopicState(msgspec.Struct, frozen=True):
    """Topic as the broker has it now.

    Attributes:
        topic_id: given by Kafka when the topic was created; empty: the broker is older than ids.
        offsets: of each partition the first one, and the one behind the last.
    """

    topic_id: str
    offsets: dict[int, tuple[int, int]]


class KafkaReader(Protocol):
    """Part of `confluent_kafka.Consumer` that is used."""

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Begin at these offsets."""

    def consume(self, num_messages: int, timeout: float) -> list[Message]:
        """Return what is there, fewer when the time is over."""

    def unassign(self) -> None:
        """Read nothing any more."""


def read_ranges(
    consumer: KafkaReader,
    topic: str,
    plan: BatchPlan,
    ranges: Sequence[Range],
    monotonic: Callable[[], float] = time.monotonic,
) -> list[RangeReader]:
    """Read some ranges of a plan to their ends, or to their limits of bytes.

    Raises:
        LogReadError: Kafka gives no record for 30 s, or has deleted the first ones meanwhile.
    """
    readers = {one.partition: RangeReader(plan, one) for one in ranges}
    consumer.assign([TopicPartition(topic, one.partition, one.start) for one in ranges])
    try:
        deadline = monotonic() + _SECONDS
        while not all(reader.is_done for reader in readers.values()):
            # The client waits until it has as many: what is left, and no more.
            left = sum(reader.left for reader in readers.values())
            messages = consumer.consume(min(_MESSAGES, left), _WAIT_SECONDS)
            for message in messages:
                _take(readers, message)
            if any(message.error() is None for message in messages):
                deadline = monotonic() + _SECONDS
            elif monotonic() > deadline:
                raise LogReadError(f"the Kafka log gave no record of {topic} for {_SECONDS:.0f} s")
    finally:
        consumer.unassign()
    return list(readers.values())


def _take(readers: Mapping[int, RangeReader], message: Message) -> None:
    # What ails the client itself, e.g. that no broker answers, is of no partition.
    reader, error = readers.get(message.partition() or 0), message.error()
    offset = message.offset() or 0
    if error is not None:
        _check(error)
    if reader is None:
        return
    if error is None:
        record = read_record(message.headers(), message.value())  # type: ignore[arg-type]
        if record.kind == FOREIGN:
            received_at = max(0, message.timestamp()[1]) * 1_000
            record = msgspec.structs.replace(record, received_at=received_at)
        reader.take(offset, record)
    elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's name
        reader.end_at(offset)


def _check(error: KafkaError) -> None:
    """Raise what does not pass by waiting."""
    gone = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}  # noqa: SLF001 - its name
    if error.fatal() or error.code() in gone:
        raise LogReadError(f"the Kafka log cannot be read: {error.str()}")


@lru_cache(1)
def open_consumer(log: KafkaLog) -> Consumer:
    """Return the consumer of this process.

    Raises:
        LogReadError: the client does not take the settings of this machine.
    """
    try:
        return Consumer(_CLIENT | log.consumer_settings())
    except InvalidSettingError as error:
        raise LogReadError(f"the Kafka log cannot be read: {error}") from error
    except KafkaException as error:
        # A setting's value may be a password: only the kind of the fault is logged.
        raise LogReadError(f"the Kafka log cannot be read: {error.args[0].name()}") from None


def read_on_executor(batches: Iterable[pa.RecordBatch], log: KafkaLog) -> Iterator[pa.RecordBatch]:
    """Read the ranges of a Spark task; each row holds a plan and one of its ranges, as JSON."""
    for batch in batches:
        for text in batch.column(0).to_pylist():
            plan, part = msgspec.json.decode(text, type=tuple[BatchPlan, Range])
            [reader] = read_ranges(open_consumer(log), log.topic, plan, [part])
            yield from as_rows(reader)


class Offsets:
    """First offset of each partition of a topic, and the one behind the last."""

    def __init__(self, log: KafkaLog) -> None:
        """Connect to nothing yet."""
        given = log.consumer_settings()
        own: dict[str, str | int | float | bool] = {
            name: value for name, value in given.items() if name not in _OF_CONSUMERS
        }
        self._admin = AdminClient(own | {"log_level": "2"})
        self._topic = log.topic

    def has_topic(self) -> bool:
        """Return whether the broker answers and has the topic."""
        try:
            found = self._admin.list_topics(self._topic, timeout=5).topics.get(self._topic)
        except KafkaException:
            return False
        return found is not None and found.error is None and bool(found.partitions)

    def read(self) -> TopicState:
        """Return the topic's id and the offsets of its partitions.

        Raises:
            LogReadError: the broker does not answer, or has no such topic.
        """
        try:
            asked = TopicCollection([self._topic])
            answers = self._admin.describe_topics(asked, request_timeout=_ANSWER)
            found = answers[self._topic].result()
            parts = [TopicPartition(self._topic, one.id) for one in found.partitions]
            first, last = self._list(parts, _EARLIEST), self._list(parts, _LATEST)
        except KafkaException as error:
            raise LogReadError(f"the Kafka log does not answer: {error.args[0].str()}") from error
        offsets = {number: (first[number], last[number]) for number in first}
        topic_id = str(found.topic_id)
        return TopicState("" if topic_id == _NO_ID else topic_id, offsets)

    def _list(self, parts: list[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
        asked = self._admin.list_offsets(dict.fromkeys(parts, spec), request_timeout=_ANSWER)
        return {part.partition: future.result().offset for part, future in asked.items()}
