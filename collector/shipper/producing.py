"""Describes the part of Kafka's client that a shipper uses, and how the client fails."""

from collections.abc import Callable
from typing import Any, Protocol

from confluent_kafka import KafkaError


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
