"""What an operator may set of the Kafka source."""

from pathlib import Path

import msgspec

from lineage import environment

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


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_KAFKA_` + field in capitals."""

    bootstrap: str | None = None  # host:port, several with commas; none: no Kafka
    topic: str = "openlineage.events"
    group: str = "lineward"
    config_file: Path | None = None  # librdkafka's settings, name=value a line: TLS, SASL


def read() -> Settings:
    """Settings of this process.

    Raises:
        InvalidSettingError: an unknown `LINEWARD_KAFKA_` variable.
    """
    return environment.read(Settings, section="KAFKA_")


def client_settings(settings: Settings) -> dict[str, str]:
    """What the client is told.

    Raises:
        InvalidSettingError: no broker, or a file that cannot be read, that has a line which is no
            setting, or one of ours.
    """
    if not settings.bootstrap:
        message = "LINEWARD_KAFKA_BOOTSTRAP: expected host:port of a Kafka broker, got nothing"
        raise environment.InvalidSettingError(message)
    place = {"bootstrap.servers": settings.bootstrap, "group.id": settings.group}
    return _USUAL | _of_file(settings.config_file) | place | OURS


def _of_file(file: Path | None) -> dict[str, str]:
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"LINEWARD_KAFKA_CONFIG_FILE: cannot be read: {error}"
        raise environment.InvalidSettingError(message) from error
    told = [(n, line.strip()) for n, line in enumerate(lines, start=1)]
    return dict(_setting(file, n, line) for n, line in told if line and not line.startswith("#"))


def _setting(file: Path, number: int, line: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in line.partition("="))
    # The line may hold a password: only its name is ever shown.
    if not sign or not name:
        message = f"LINEWARD_KAFKA_CONFIG_FILE: {file}:{number}: expected name=value"
        raise environment.InvalidSettingError(message)
    if name in OURS:
        message = f"LINEWARD_KAFKA_CONFIG_FILE: {file}:{number}: {name[:80]} is not yours to set"
        raise environment.InvalidSettingError(message)
    return name, value
