"""Settings of the service, and paths that its roles share; every default is safe."""

from collections import deque
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from collector.sender_secret import secret_path
from lineage.input_log.settings import SPOOL
from lineage.lake.settings import LakeSettings, read_lake_settings
from lineage.lake.storage import Lake, open_lake
from lineage.process import environment
from lineage.process.http_hosts import OwnHosts
from lineage.process.setting_files import add_password
from lineage.process.sockets import is_all_addresses, reachable_host

_Port = Annotated[int, Meta(ge=0, le=65_535)]
_Seconds = Annotated[float, Meta(gt=0)]
_Address = Annotated[
    str,
    Meta(
        pattern=r"^https?://[^\s/?#@]+/?$",
        description="http://HOST:PORT without a path",
    ),
]


_read: deque["Settings"] = deque(maxlen=1)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_` + field in capitals, by the service and by every command."""

    host: str = "127.0.0.1"
    allowed_hosts: str = ""  # further names in `Host`, e.g. of a proxy; separated by commas
    collector_port: _Port = 8700
    collector_url: _Address | None = None  # none: this host's
    service_port: _Port = 8701
    metrics_port: _Port = 8702
    data_dir: Path = Path("lineward-data")
    policy: Path | None = None
    catalog_url: str | None = None  # none: SQLite in the data folder
    catalog_password_file: Path | None = None  # has the password of the URL's user
    collector_token_file: Path | None = None
    sender_secret_file: Path | None = None  # none: that of a collector with the same data folder
    access_audit_days: Annotated[int, Meta(ge=1, le=3_650)] = 400
    history_days: Annotated[int, Meta(ge=1, le=3_650)] = 400  # ended incidents, hours of SLIs
    marquez_url: str | None = None  # none: no Marquez; more in service/ingest/marquez
    log: str = SPOOL  # else a shipper moves events on to Kafka: docs/kafka-log.md
    kafka_bootstrap: str | None = None  # given, `up` takes events from a Kafka too
    # Without renewal another service leads after these; docs/kubernetes/several-services.md.
    lease_seconds: Annotated[float, Meta(ge=3, le=60)] = 10.0
    replica: str | None = None  # name of this service among several; none: of host and data folder
    kubernetes_namespaces: str | None = None  # given, `up` watches the SparkApplications of these
    hang_seconds: Annotated[float, Meta(ge=10)] = 60.0  # without an answer, `up` restarts a role
    listener_dir: Path | None = None  # has the listener's jars, which the service then serves
    insecure: bool = False  # listen to other machines without tokens
    stale_evaluation_seconds: _Seconds = 60.0  # older, and its figures are no longer shown as now's
    lake_settings: LakeSettings = LakeSettings()

    @property
    def catalog(self) -> str:
        """URL of the catalog that the roles share."""
        return self.catalog_url or f"sqlite:///{self.data_dir / 'catalog.db'}"

    @property
    def lake(self) -> Lake:
        """Return the lake of raw events, which the pipeline writes."""
        return open_lake(self.data_dir, self.lake_settings)

    @property
    def collector(self) -> str:
        """Address of the collector for a process on this machine, without a path."""
        return (self.collector_url or self.own_collector).rstrip("/")

    @property
    def is_collector_address_known(self) -> bool:
        """Return whether jobs on other machines can be given the collector's address."""
        return self.collector_url is not None or not is_all_addresses(self.host)

    @property
    def sender_secret(self) -> Path:
        """File of the secret by which the collector knows Lineward's own senders."""
        return secret_path(self.data_dir, self.sender_secret_file)

    @property
    def service_url(self) -> str:
        """Address of the API, without a path."""
        return self._url(self.service_port)

    @property
    def metrics_url(self) -> str:
        """Address of the metrics, without a path."""
        return self._url(self.metrics_port)

    @property
    def own_collector(self) -> str:
        """Address of the collector on this machine, without a path."""
        return self._url(self.collector_port)

    @property
    def own_hosts(self) -> OwnHosts:
        """Return the names by which requests may address this machine."""
        return OwnHosts.read(self.host, self.allowed_hosts)

    def _url(self, port: int) -> str:
        host = reachable_host(self.host)
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def is_shipped(self) -> bool:
        """Return whether events wait in a Kafka topic, not in a local spool."""
        return self.log != SPOOL

    @property
    def spool(self) -> Path:
        """Return the collector's spool: only an embedded catalog has it beside itself."""
        return self.data_dir / "spool.db"


def read_settings(data_dir: Path | None = None) -> Settings:
    """Return the settings of this process; an explicit data folder overrides the environment.

    Raises:
        InvalidSettingError: a value out of range.
    """
    settings = environment.read(Settings)
    url = add_password(settings.catalog_url, settings.catalog_password_file)
    settings = msgspec.structs.replace(
        settings, lake_settings=read_lake_settings(), catalog_url=url
    )
    if data_dir is not None:
        settings = msgspec.structs.replace(settings, data_dir=data_dir)
    _read.append(settings)
    return settings


def last_read() -> Settings:
    """Return the settings of a command; its options may have changed them."""
    return _read[-1] if _read else read_settings()
