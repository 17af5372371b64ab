"""Kafka's client as a shipper uses it: how the client fails, and the keys of records."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from confluent_kafka import KafkaError

from lineage.input_log.records import Record


class Producer(Protocol):
    """Part of `confluent_kafka.Producer` that is used."""

    def produce(  # noqa: PLR0913 - as the client has it
        self,
        topic: str,
        *,
        value: bytes,
        key: bytes,
        headers: Any,  # noqa: ANN401 - a list of pairs
        timestamp: int,
        on_delivery: Callable[[KafkaError | None, object], None],
    ) -> None:
        """Queue one record."""

    def flush(self, timeout: float) -> int:
        """Wait until all is delivered; return how many records are not."""


class NotShippedError(Exception):
    """Kafka has not acknowledged the window: it is sent again."""


class ProducerFailedError(Exception):
    """Kafka's client takes no record any more: only another process has a client that does."""


def is_fatal(error: KafkaError) -> bool:
    """Return whether the client takes no record any more."""
    # The first report has its own code; each later call fails by the client's own.
    return error.fatal() or error.code() == KafkaError._FATAL  # noqa: SLF001 - the client's name


class _Run(msgspec.Struct):
    runId: str = ""  # noqa: N815 - OpenLineage's name


class _Job(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _Event(msgspec.Struct):
    run: _Run | None = None
    job: _Job | None = None


_EVENT = msgspec.json.Decoder(_Event)


def kafka_key(record: Record) -> bytes:
    """Return the key by which Kafka chooses a partition: the events of a run stay together."""
    if not record.is_event:
        return record.collector.encode()
    try:
        event = _EVENT.decode(record.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return record.collector.encode()
    if event.run is not None and event.run.runId:
        return event.run.runId.encode()
    job = event.job or _Job()
    return f"{job.namespace}:{job.name}".encode()
