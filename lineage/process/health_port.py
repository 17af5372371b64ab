"""Health port of a role that runs by itself in a container: whether it is alive and ready."""

import socket
import threading
import time
from collections.abc import Callable, Iterable
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import msgspec
from msgspec import Meta

from lineage.process import environment
from lineage.process.health import HEALTH, Health

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# As the supervisor of `lineward up` waits for a pipeline: a JVM that collects garbage on a machine
# that swaps answers nobody for a minute.
_HANG_SECONDS = 120.0
_NOT_FOUND = "404 Not Found"
_Check = Callable[[], str | None]


class HealthPort(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_` + field in capitals."""

    host: str = "127.0.0.1"
    health_port: Annotated[int, Meta(ge=1, le=65_535)] | None = None  # none: no port


def read_health_port() -> HealthPort:
    """Return the settings of this process.

    Raises:
        InvalidSettingError: a value out of range.
    """
    return environment.read(HealthPort)


def serve_health(health: Health = HEALTH) -> int | None:
    """Serve the health of this process where `LINEWARD_HEALTH_PORT` is set; return the port.

    A role of `lineward up` reports to its supervisor instead.

    Raises:
        InvalidSettingError: a value out of range.
        OSError: the address is taken.
    """
    settings = read_health_port()
    if settings.health_port is None or health.descriptor() is not None:
        return None
    checks = {"/livez": hang_of(health), "/readyz": failures_of(health)}
    return serve(settings.host, settings.health_port, checks)


def hang_of(health: Health, count: Callable[[], float] = time.monotonic) -> _Check:
    """Return a check that fails when the role has reported nothing for two minutes."""

    def check() -> str | None:
        silent = count() - health.beat_at
        return f"no sign of life for {silent:.0f} s" if silent > _HANG_SECONDS else None

    return check


def failures_of(health: Health) -> _Check:
    """Return a check that names the parts of the role that fail."""

    def check() -> str | None:
        return "; ".join(f"{one.part}: {one.error}" for one in health.failures()) or None

    return check


def serve(
    host: str, port: int, checks: dict[str, _Check], metrics: "WSGIApplication | None" = None
) -> int:
    """Answer requests in threads; return the port.

    Args:
        host: address to listen on.
        port: 0: any that is free.
        checks: say by path what is wrong; None: nothing is.
        metrics: answers `/metrics`.

    Raises:
        OSError: the address is taken.
    """

    def app(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics" and metrics is not None:
            return metrics(environ, start)
        problem = checks[path]() if path in checks else _NOT_FOUND
        failed = _NOT_FOUND if path not in checks else "503 Service Unavailable"
        start(failed if problem else "200 OK", [("content-type", "text/plain; charset=utf-8")])
        return [f"{problem or '200 OK'}\n".encode()]

    kind = _ServerOfIPv6 if ":" in host else _Server
    server = kind((host, port), _SilentHandler)
    server.set_app(app)
    threading.Thread(target=server.serve_forever, daemon=True, name="health_port").start()
    return int(server.server_port)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without a look-up of the host's name, which may take seconds in a pod."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()


class _ServerOfIPv6(_Server):
    address_family = socket.AF_INET6


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Log nothing: probes ask every few seconds."""
