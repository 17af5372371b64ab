"""Checks before roles start: settings are valid, addresses guarded and free, Java new enough."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Final

from alerts.notify.settings import read_routing
from collector.settings import read_collector_settings, read_sender_token
from lineage.errors import InvalidRequestError, RequestError
from lineage.input_log.settings import read_log
from lineage.policy.access import Access
from lineage.policy.model import Policy
from lineage.process.health_port import read_health_port
from lineage.process.http_hosts import is_loopback
from runbooks.actions.kubernetes_settings import read_for_watch, read_kubernetes_settings
from service.errors import OccupiedError
from service.ingest.kafka.settings import client_settings, read_kafka_settings
from service.ingest.marquez.settings import read_marquez
from service.runtime.settings import Settings
from slis.settings import read_pipeline_settings

LEAST_JAVA: Final = 17
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_JAVA_SECONDS = 60.0
_JAVA_ADVICE = f"install Java {LEAST_JAVA} or newer, or set JAVA_HOME to it: Spark needs it"


def require_role_settings(settings: Settings) -> None:
    """See that each role accepts its settings: otherwise it would be restarted without end.

    Raises:
        InvalidSettingError: an unknown variable, a value out of range, an unreadable file.
    """
    read_sender_token(read_collector_settings().limits)
    if (log := read_log()) is not None:
        log.producer_settings()
    read_pipeline_settings()
    read_health_port()
    read_routing(settings.service_url)
    read_marquez()
    kafka = read_kafka_settings()
    read_kubernetes_settings()  # without namespaces to watch, actions may still read these
    if settings.kafka_bootstrap:
        client_settings(kafka)
    if settings.kubernetes_namespaces:
        read_for_watch()


def may_be_open(settings: Settings) -> bool:
    """Return whether the API needs no tokens: only this machine has access, or people chose so."""
    return is_loopback(settings.host) or settings.insecure


def require_guarded_service(
    settings: Settings, policy: Policy, *, with_collector: bool = True
) -> None:
    """Check that only this machine or holders of tokens have access.

    Raises:
        InvalidRequestError: everybody would have access; the text names what to set.
    """
    if may_be_open(settings):
        return
    missing = []
    if not isinstance(policy.access, Access):
        missing.append("an `access` section in the policy")
    if with_collector and settings.collector_token_file is None:
        missing.append("LINEWARD_COLLECTOR_TOKEN_FILE")
    if missing:
        raise InvalidRequestError(
            f"LINEWARD_HOST={settings.host} accepts requests from other machines without a token:"
            f" set {' and '.join(missing)} (docs/settings.md#other-machines), or allow this with"
            " --insecure or LINEWARD_INSECURE=true"
        )


def require_free(host: str, port: int, variable: str) -> None:
    """See that a role will be able to listen there.

    Raises:
        OccupiedError: it would not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot listen on {host}:{port} ({reason}): set {variable} to a free port"
            raise OccupiedError(message) from error


def require_java() -> None:
    """See that the Java that Spark would start is there and new enough.

    Raises:
        RequestError: it is not.
    """
    java = _find_java()
    version = _java_version(java)
    if version is not None and version < LEAST_JAVA:
        raise RequestError(f"{java} is Java {version}: {_JAVA_ADVICE}")


def _find_java() -> str:
    """Find Java as Spark's own scripts do."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        where = f"in JAVA_HOME ({home})" if home else "on PATH"
        raise RequestError(f"Java was not found {where}: {_JAVA_ADVICE}")
    return found


def _java_version(java: str) -> int | None:
    """Return the version of this Java; None if its output is not the usual one."""
    try:
        text = subprocess.run(  # noqa: S603 - the Java that Spark starts as well
            [java, "-version"], capture_output=True, text=True, timeout=_JAVA_SECONDS, check=False
        ).stderr
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise RequestError(f"{java} does not start ({error.strerror}): {_JAVA_ADVICE}") from error
    found = _VERSION.search(text)
    if found is None:
        return None
    return int(found[2] or 1) if found[1] == "1" else int(found[1])
