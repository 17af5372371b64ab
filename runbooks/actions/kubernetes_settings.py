"""Settings of the Kubernetes API: for actions, and for the kubernetes role that watches jobs."""

import re
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from lineage.process import environment

SECTION: Final = "KUBERNETES_"
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class KubernetesSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_KUBERNETES_` + field in capitals. Without `url` nothing is asked.

    Attributes:
        url: of the API server; in a pod `https://kubernetes.default.svc`.
        token_file: bearer token, read for each request: a pod's is renewed every hour.
        ca_file: whom to trust, and nobody else.
        namespaces: where the kubernetes role watches, separated by commas.
        owner_keys: annotations or labels that name the owner of a job, the first one first.
        outputs_key: annotation that names the datasets which a job writes.
        page_objects: objects in one page of a list.
        watch_seconds: after which a watch is opened again.
        instance: release of the chart that `restart-role` restarts.
        namespace: of that release.
    """

    url: str | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=60)] = 10.0
    namespaces: str = ""
    owner_keys: str = "lineward.io/owner"
    outputs_key: str = "lineward.io/outputs"
    page_objects: Annotated[int, Meta(ge=1, le=5_000)] = 500
    watch_seconds: Annotated[int, Meta(ge=1, le=3_600)] = 60
    instance: str | None = None
    namespace: str | None = None

    @property
    def watched_namespaces(self) -> tuple[str, ...]:
        """Names of the namespaces to watch, each once."""
        return tuple(dict.fromkeys(split_list(self.namespaces)))


def split_list(text: str) -> tuple[str, ...]:
    """Return the parts of a list that is separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def read_kubernetes_settings() -> KubernetesSettings:
    """Return the settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    found = environment.read(KubernetesSettings, section=SECTION)
    if found.url is not None:
        _require_url(found.url)
    for name in found.watched_namespaces:
        if not _NAMESPACE.fullmatch(name):
            message = f"LINEWARD_KUBERNETES_NAMESPACES: {name[:80]!r} is no name of a namespace"
            raise environment.InvalidSettingError(message)
    return found


def read_for_watch() -> KubernetesSettings:
    """Return the settings of the kubernetes role.

    Raises:
        InvalidSettingError: as `read_kubernetes_settings`, or no API server or namespace is named.
    """
    found = read_kubernetes_settings()
    for name in ("url", "namespaces"):
        if not getattr(found, name):
            raise environment.InvalidSettingError(f"LINEWARD_KUBERNETES_{name.upper()}: not set")
    return found


def _require_url(url: str) -> None:
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not is_safe or not parts.hostname:
        message = f"LINEWARD_KUBERNETES_URL: expected https://HOST, got {url[:80]!r}"
        raise environment.InvalidSettingError(message)
