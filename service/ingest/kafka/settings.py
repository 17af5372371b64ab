"""Settings of the Kafka source."""

from pathlib import Path

import msgspec

from lineage.process import environment
from lineage.process.setting_files import read_client_file

# What the promise rests on; a file of settings may not take it away.
OURS = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "auto.offset.reset": "earliest",
    # As long as the client allows: until a collector is back that does not answer.
    "max.poll.interval.ms": "86400000",
}
_USUAL = {
    "client.id": "lineward",
    # A consumer that was killed holds its partitions for this long.
    "session.timeout.ms": "10000",
    "topic.metadata.refresh.interval.ms": "10000",
    "queued.max.messages.kbytes": "16384",
}


class KafkaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_KAFKA_` + field in capitals."""

    bootstrap: str | None = None  # host:port, several with commas; none: no Kafka
    topic: str = "openlineage.events"
    group: str = "lineward"
    config_file: Path | None = None  # librdkafka's settings, name=value a line: TLS, SASL


def read_kafka_settings() -> KafkaSettings:
    """Read the settings of this process.

    Raises:
        InvalidSettingError: an unknown `LINEWARD_KAFKA_` variable.
    """
    return environment.read(KafkaSettings, section="KAFKA_")


def client_settings(settings: KafkaSettings) -> dict[str, str]:
    """Return the client's configuration.

    Raises:
        InvalidSettingError: no broker, or a file that cannot be read, that has a line which is no
            setting, or one of ours.
    """
    if not settings.bootstrap:
        message = "LINEWARD_KAFKA_BOOTSTRAP: expected host:port of a Kafka broker, got nothing"
        raise environment.InvalidSettingError(message)
    place = {"bootstrap.servers": settings.bootstrap, "group.id": settings.group}
    of_file = read_client_file(settings.config_file, "LINEWARD_KAFKA_CONFIG_FILE", OURS)
    return _USUAL | of_file | place | OURS
