"""The process that serves: Granian on a socket that its parent owns."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import structlog
from granian._granian import SocketHolder
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from collector import metrics, prune
from collector.app import App
from collector.landing import Landing
from collector.parent import BACKLOG
from collector.settings import Settings, read
from collector.spool import Spool
from lineage.clock import system_clock

BROKEN_SPOOL_EXIT = 75
_HEADER_BYTES = 16_384
_log = structlog.get_logger()


class InheritedServer(Server):
    """Granian's embedded server on a listening socket that another process opened.

    Granian itself binds a socket in each worker, which dies with it: whoever connects in between
    is refused.
    """

    listening_fd: int

    def _init_shared_socket(self) -> None:
        # Granian's own hook; its types know only sockets that it bound itself.
        self._ssp: None = None
        self._shd: Any = SocketHolder(  # type: ignore[call-arg]
            self.listening_fd,
            False,  # noqa: FBT003 - no Unix socket
            BACKLOG,
        )
        self._sfd: Any = self.listening_fd


def _token(path: Path | None) -> bytes | None:
    return None if path is None else path.read_bytes().strip()


def _server(app: App, fd: int, settings: Settings) -> InheritedServer:
    deadline_ms = int(settings.limits.read_deadline_seconds * 1000)
    server = InheritedServer(
        app,
        interface=Interfaces.RSGI,
        http1_settings=HTTP1Settings(
            header_read_timeout=deadline_ms, max_buffer_size=_HEADER_BYTES
        ),
        websockets=False,
        log_enabled=False,
        backpressure=4096,
    )
    server.listening_fd = fd
    return server


async def serve(fd: int, settings: Settings) -> int:
    """Serve until told to stop; the exit status."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # The parent holds the other end of standard input: it becomes readable when the parent is gone.
    loop.add_reader(sys.stdin.fileno(), stop.set)
    settings.place.data_dir.mkdir(parents=True, exist_ok=True)
    landing = Landing(loop)
    spool = Spool(settings.place.data_dir / "spool.db", settings.limits, system_clock, landing)
    spool.start()
    landing.attach(spool)
    prune.start(spool, settings)
    metrics.STARTED.set_to_current_time()
    server = _server(
        App(landing, settings.limits, _token(settings.limits.token_file)), fd, settings
    )
    serving = asyncio.create_task(server.serve())
    _log.info("collector_ready", pid=os.getpid())
    await _until(stop, spool, serving)
    server.stop()  # type: ignore[no-untyped-call]
    await serving
    spool.stop()
    return BROKEN_SPOOL_EXIT if spool.broken.is_set() else 0


async def _until(stop: asyncio.Event, spool: Spool, serving: asyncio.Task[None]) -> None:
    """Until told to stop, or there is nothing left that could serve."""
    while not (stop.is_set() or spool.broken.is_set() or serving.done()):
        try:
            await asyncio.wait_for(stop.wait(), timeout=0.05)
        except TimeoutError:
            continue


def main() -> None:
    """Entry: the listening socket's number is the one argument."""
    sys.exit(asyncio.run(serve(int(sys.argv[1]), read())))


if __name__ == "__main__":
    main()
