"""Settings of the collector for operators; every default is safe."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from lineage.input_log.settings import SPOOL, read_log
from lineage.process import environment
from lineage.process.http_hosts import OwnHosts, is_loopback
from lineage.process.setting_files import add_password

_TOKEN = re.compile(rb"[!-~]+")
_SHARED = ("LINEWARD_COLLECTOR_PORT", "LINEWARD_COLLECTOR_URL")  # of other structs
_Port = Annotated[int, Meta(ge=0, le=65_535)]
_Positive = Annotated[int, Meta(ge=1)]
_Seconds = Annotated[float, Meta(gt=0)]
_Drain = Annotated[float, Meta(ge=0, le=300)]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of requests, of the spool and of the end (`LINEWARD_COLLECTOR_…`)."""

    max_body_bytes: _Positive = 1_048_576  # as sent, one event
    max_inflated_bytes: _Positive = 10_485_760  # after gzip; also a whole batch as sent
    max_depth: _Positive = 64
    max_values: _Positive = 1_000_000  # JSON values of one event or batch
    max_batch_events: _Positive = 10_000
    max_batch_rejected: _Positive = 1_000  # of one batch; what follows is not judged
    max_in_flight_bytes: _Positive = 25_165_824  # of all bodies that are held at a time
    max_name_bytes: _Positive = 2_048  # UTF-8; PostgreSQL's index entries end at 2,704
    read_deadline_seconds: _Seconds = 10.0
    max_spool_bytes: _Positive = 10_737_418_240
    keep_seconds: _Seconds = 3_600.0  # since its receipt, of an event that every reader has passed
    max_rejected_rows: _Positive = 10_000
    max_rejected_bytes: _Positive = 65_536  # of one rejected body; the rest is cut
    token_file: Path | None = None  # no file: no token asked for
    drain_seconds: _Drain = 0.0  # answers go on after SIGTERM, while senders go elsewhere


class CollectorLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Address and folder of the collector (`LINEWARD_…`, shared with the other roles)."""

    host: str = "127.0.0.1"
    allowed_hosts: str = ""  # further names in `Host`, e.g. of a proxy; separated by commas
    collector_port: _Port = 8700
    data_dir: Path = Path("lineward-data")
    catalog_url: str | None = None
    catalog_password_file: Path | None = None  # has the password of the URL's user
    marquez_url: str | None = None  # events wait for their forwarding there
    marquez_forward: bool = True
    sender_secret_file: Path | None = None  # of Lineward's own senders; in the data folder
    insecure: bool = False  # listen to other machines without a token
    log: str = SPOOL  # else a shipper moves events on to Kafka

    @property
    def is_shipped(self) -> bool:
        """Return whether a shipper is the only reader of the spool."""
        return self.log != SPOOL

    @property
    def forwards(self) -> bool:
        """Return whether every event is forwarded to a Marquez."""
        return self.marquez_url is not None and self.marquez_forward

    @property
    def own_hosts(self) -> OwnHosts:
        """Return the host names by which senders may address the port."""
        return OwnHosts.read(self.host, self.allowed_hosts)


class CollectorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that a collector process reads from its environment."""

    place: CollectorLocation = CollectorLocation()
    limits: Limits = Limits()


def read_collector_settings() -> CollectorSettings:
    """Return the settings of this process.

    Raises:
        InvalidSettingError: a value out of range, or an unknown `LINEWARD_COLLECTOR_` variable.
    """
    place = environment.read(CollectorLocation)
    url = add_password(place.catalog_url, place.catalog_password_file)
    place = msgspec.structs.replace(place, catalog_url=url)
    read_log()
    if place.is_shipped and place.forwards:
        raise environment.InvalidSettingError(
            "LINEWARD_MARQUEZ_URL: events of a Kafka log are not forwarded to a Marquez:"
            " set LINEWARD_MARQUEZ_FORWARD=false, or LINEWARD_LOG=spool"
        )
    return CollectorSettings(
        place=place, limits=environment.read(Limits, section="COLLECTOR_", shared=_SHARED)
    )


def require_guarded_collector(settings: CollectorSettings) -> None:
    """See that only this machine, or only holders of the token, may send events.

    Raises:
        InvalidSettingError: anybody could.
    """
    place = settings.place
    if is_loopback(place.host) or place.insecure or settings.limits.token_file:
        return
    raise environment.InvalidSettingError(
        f"LINEWARD_HOST={place.host} accepts events from other machines without a token: set"
        " LINEWARD_COLLECTOR_TOKEN_FILE, or allow this with LINEWARD_INSECURE=true"
    )


def read_sender_token(limits: Limits) -> bytes | None:
    """Return the token that senders must present, or None if anyone may send.

    Raises:
        InvalidSettingError: the file cannot be read, or holds nothing that a header can bear.
    """
    if limits.token_file is None:
        return None
    try:
        token = limits.token_file.read_bytes().strip()
    except OSError as error:
        raise environment.InvalidSettingError(f"LINEWARD_COLLECTOR_TOKEN_FILE: {error}") from error
    if not _TOKEN.fullmatch(token):
        message = f"LINEWARD_COLLECTOR_TOKEN_FILE: {limits.token_file}: expected printable ASCII"
        raise environment.InvalidSettingError(message)
    return token
