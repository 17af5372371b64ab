"""Settings of the log in which events wait for the pipeline: a spool, or a topic of Kafka."""

import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lineage.process import environment
from lineage.process.environment import InvalidSettingError
from lineage.process.setting_files import read_client_file

SPOOL = "spool"
_URL = re.compile(r"kafka://([^/\s]+)/([A-Za-z0-9._-]{1,249})")
_EXPECTED = "expected spool, or kafka://HOST:PORT[,HOST:PORT...]/TOPIC"
# The guarantees rest on these; a file of settings may not change them.
_OURS = {
    "enable.idempotence": "true",
    "acks": "all",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
}
_OF_PRODUCER = ("enable.idempotence", "acks")
_GIVEN = ("bootstrap.servers", "group.id")


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_LOG`."""

    log: str = SPOOL


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_LOG_` + field in capitals."""

    config_file: Path | None = None  # librdkafka's settings, name=value a line: TLS, SASL
    collector: Annotated[str, Meta(max_length=200)] = ""  # name of this collector; none: its host
    replaces: Literal["", "spool", "kafka"] = ""  # the kind of log that fed the catalog before
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8703  # of the shipper's health and metrics


class KafkaLog(msgspec.Struct, frozen=True, kw_only=True):
    """Topic that is the log.

    Attributes:
        bootstrap: host:port of brokers, separated by commas.
        topic: its name.
        settings: the rest.
    """

    bootstrap: str
    topic: str
    settings: LogSettings = LogSettings()

    @property
    def collector(self) -> str:
        """Name of the collector of this machine or pod."""
        return self.settings.collector or socket.gethostname()

    def producer_settings(self) -> dict[str, str]:
        """Return what the shipper's client is given.

        Raises:
            InvalidSettingError: the file cannot be read, or sets one of ours.
        """
        return self._client() | {name: _OURS[name] for name in _OF_PRODUCER}

    def consumer_settings(self) -> dict[str, str]:
        """Return what the pipeline's client is given; raises as `producer_settings`."""
        ours = {name: value for name, value in _OURS.items() if name not in _OF_PRODUCER}
        # Never joined: the position is in the catalog.
        return self._client() | ours | {"group.id": "lineward-pipeline"}

    def _client(self) -> dict[str, str]:
        forbidden = (*_OURS, *_GIVEN)
        of_file = read_client_file(self.settings.config_file, "LINEWARD_LOG_CONFIG_FILE", forbidden)
        return {"client.id": "lineward"} | of_file | {"bootstrap.servers": self.bootstrap}


def read_log_settings(environ: Mapping[str, str] | None = None) -> LogSettings:
    """Return the settings beside `LINEWARD_LOG`.

    Raises:
        InvalidSettingError: an unknown `LINEWARD_LOG_` variable, or a value out of range.
    """
    return environment.read(LogSettings, section="LOG_", environ=environ)


def read_log(environ: Mapping[str, str] | None = None) -> KafkaLog | None:
    """Return the topic that is the log; None: the spool is.

    Raises:
        InvalidSettingError: `LINEWARD_LOG` is neither, or an unknown `LINEWARD_LOG_` variable.
    """
    log = environment.read(Log, environ=environ).log
    settings = read_log_settings(environ)
    if log == SPOOL:
        return None
    found = _URL.fullmatch(log)
    if found is None:
        # A URL may hold a password, by mistake.
        raise InvalidSettingError(f"LINEWARD_LOG: {_EXPECTED}, got {_without_secrets(log)!r}")
    if "@" in found[1]:
        message = (
            "LINEWARD_LOG: expected no user in the URL: put sasl.* into LINEWARD_LOG_CONFIG_FILE"
        )
        raise InvalidSettingError(message)
    return KafkaLog(bootstrap=found[1], topic=found[2], settings=settings)


def _without_secrets(url: str) -> str:
    """Return the part of a URL that is safe to repeat: no user, and no query."""
    return url.rsplit("@", maxsplit=1)[-1].split("?", maxsplit=1)[0][:80]
