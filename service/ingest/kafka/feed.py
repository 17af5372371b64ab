"""Feed of events from a Kafka topic to the collector; offsets are committed after the answer.

The topic is as the OpenLineage clients write it: the value is one event's JSON, the key keeps a
job's events in one partition. Order does not matter here, and an event that comes again is known.
"""

from collections.abc import Sequence
from threading import Event
from typing import Literal, Protocol

import msgspec
import structlog
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from service.ingest.collector_client import UploadStoppedError
from service.ingest.event_uploader import EventUploader, batch_events

_MOST_MESSAGES = 200
_WAIT_SECONDS = 0.2
_log = structlog.get_logger()


class Consumer(Protocol):
    """Part of `confluent_kafka.Consumer` that is used."""

    def consume(self, num_messages: int, timeout: float) -> list[Message]:
        """Return waiting messages, at most so many; fewer when the time is over."""

    def commit(
        self, *, offsets: list[TopicPartition], asynchronous: Literal[False]
    ) -> list[TopicPartition]:
        """Note where to go on."""


class KafkaMessage(msgspec.Struct, frozen=True):
    """Message with its position."""

    body: bytes
    topic: str
    partition: int
    offset: int

    @property
    def where(self) -> str:
        """Topic, partition and offset, as `events/0@17`."""
        return f"{self.topic}/{self.partition}@{self.offset}"


class Feed:
    """Messages of one consumer, on their way to one collector."""

    def __init__(self, consumer: Consumer, poster: EventUploader) -> None:
        self._consumer = consumer
        self._poster = poster
        self._trouble = ""

    def run(self, stopping: Event) -> None:
        """Feed until stopped.

        Raises:
            KafkaException: the client cannot go on: a new process is asked for.
        """
        try:
            while not stopping.is_set():
                self.take()
        except UploadStoppedError:
            return

    def take(self) -> int:
        """Land what is there; return how many messages that was.

        Raises:
            UploadStoppedError: stopped; nothing of it is committed.
            KafkaException: as `run`.
        """
        messages = self._consumer.consume(_MOST_MESSAGES, _WAIT_SECONDS)
        received = [_received(message) for message in messages if not self._is_trouble(message)]
        if received:
            self._land([one for one in received if one.body])
            self._commit(received)
        return len(received)

    def _land(self, events: Sequence[KafkaMessage]) -> None:
        for batch in batch_events(events):
            bodies = [event.body for event in batch]
            for one in self._poster.post(bodies, [event.where for event in batch]):
                event = batch[one.index]
                _log.warning(
                    "event_rejected",
                    topic=event.topic,
                    partition=event.partition,
                    offset=event.offset,
                    reason=one.reason,
                    kept_by_collector=one.is_kept,
                )

    def _commit(self, received: Sequence[KafkaMessage]) -> None:
        newest: dict[tuple[str, int], int] = {}
        for one in received:
            newest[(one.topic, one.partition)] = one.offset + 1
        offsets = [TopicPartition(topic, part, offset) for (topic, part), offset in newest.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            # What was landed comes again, and repeats nothing; the next commit may succeed.
            self._report(error.args[0])

    def _is_trouble(self, message: Message) -> bool:
        error = message.error()
        if error is not None:
            self._report(error)
        elif self._trouble:
            self._trouble = ""
        return error is not None

    def _report(self, error: KafkaError) -> None:
        """Say what is wrong once, not each time.

        Raises:
            KafkaException: the client cannot go on.
        """
        if error.fatal():
            raise KafkaException(error)
        if str(error) != self._trouble:
            self._trouble = str(error)
            _log.warning("kafka_trouble", error=str(error), next="retries without end")


def _received(message: Message) -> KafkaMessage:
    body = message.value()
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if body is None or not body.strip():
        body = b""  # a tombstone: there is nothing to keep
        _log.warning("message_is_empty", topic=topic, partition=partition, offset=offset)
    return KafkaMessage(body, topic or "", partition or 0, offset or 0)
