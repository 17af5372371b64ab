"""`python -m service.ingest.kafka`: the Kafka source, a process of its own."""

import sys
from threading import Event

import structlog
from confluent_kafka import Consumer, KafkaException

from lineage import origins
from lineage.process.environment import InvalidSettingError
from lineage.process.health import HEALTH
from lineage.process.health_port import serve_health
from lineage.process.role import begin_role, stop_on_signals
from service.errors import RejectedInputError
from service.ingest.collector_client import Target, read_token_file
from service.ingest.event_uploader import EventUploader, endless_uploader
from service.ingest.kafka.feed import Feed
from service.ingest.kafka.settings import client_settings, read_kafka_settings
from service.runtime.settings import Settings, read_settings

_log = structlog.get_logger()


def main() -> int:
    """Run the source; the exit status is 2 for a setting that cannot be used."""
    begin_role()
    HEALTH.beat_beside()
    try:
        settings = read_kafka_settings()
        client = client_settings(settings)
        shared = read_settings()
        if shared.collector_token_file is not None:
            read_token_file(shared.collector_token_file)
        consumer = Consumer(client)
        serve_health()
    except (InvalidSettingError, RejectedInputError, OSError) as error:
        _log.error("kafka_cannot_start", reason=str(error))
        return 2
    except KafkaException as error:
        # A setting's value may be a password: only its kind of fault is logged.
        _log.error("kafka_cannot_start", reason=error.args[0].name())
        return 2
    stopping = stop_on_signals()
    consumer.subscribe([settings.topic])
    _log.info("kafka_listening", bootstrap=settings.bootstrap, topic=settings.topic)
    try:
        Feed(consumer, _poster(shared, stopping)).run(stopping)
    finally:
        consumer.close()
    return 0


def _poster(shared: Settings, stopping: Event) -> EventUploader:
    target = Target(
        url=shared.collector,
        origin=origins.KAFKA,
        token_file=shared.collector_token_file,
        secret_file=shared.sender_secret,
    )
    return endless_uploader(target, stopping)


if __name__ == "__main__":
    sys.exit(main())
