"""The process that serves: Granian on a socket that its parent owns."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from typing import Any

import structlog
import uvloop
from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from collector import checkpoint, metrics, prune
from collector.app import App
from collector.deadlines import Deadlines
from collector.landing import Landing
from collector.parent import BACKLOG
from collector.settings import Settings, read, read_token
from collector.spool import Spool
from lineage.clock import system_clock

BROKEN_SPOOL_EXIT = 75
_HEADER_BYTES = 16_384
_LOOK_SECONDS = 0.05
_REOPEN_SECONDS = 0.5
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


def _server(app: App, fd: int, settings: Settings) -> InheritedServer:
    deadline_ms = int(settings.limits.read_deadline_seconds * 1000)
    server = InheritedServer(
        app,
        interface=Interfaces.RSGI,
        # To tell HTTP/1 from 2, it would wait without a deadline for a connection's first bytes.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=deadline_ms, max_buffer_size=_HEADER_BYTES
        ),
        websockets=False,
        log_enabled=False,
        backpressure=4096,
    )
    server.listening_fd = fd
    return server


def _open(landing: Landing, settings: Settings) -> Spool | None:
    """The spool, ready to land events in; None when the disk does not let us now."""
    path = settings.place.data_dir / "spool.db"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        spool = Spool(path, settings.limits, system_clock, landing)
        spool.start()
    except (sqlite3.Error, OSError) as error:
        _log.error("spool_cannot_open", path=str(path), error=str(error))
        return None
    landing.attach(spool)
    metrics.SPOOL.passed = spool.passed
    prune.start(spool, settings)
    checkpoint.start(path)
    _log.info("collector_ready", pid=os.getpid())
    return spool


async def serve(fd: int, settings: Settings) -> int:
    """Serve until told to stop; the exit status."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # The parent holds the other end of standard input: it becomes readable when the parent is gone.
    loop.add_reader(sys.stdin.fileno(), stop.set)
    landing = Landing(loop)
    # Before the first request: who waits in the backlog is better served late than refused.
    spool = _open(landing, settings)
    metrics.STARTED.set_to_current_time()
    limits = settings.limits
    app = App(landing, limits, read_token(limits), Deadlines(loop, limits.read_deadline_seconds))
    server = _server(app, fd, settings)
    serving = asyncio.create_task(server.serve())
    while spool is None and not await _ended(stop, serving, seconds=_REOPEN_SECONDS):
        spool = _open(landing, settings)
    while not (spool is None or spool.broken.is_set()):
        if await _ended(stop, serving, seconds=_LOOK_SECONDS):
            break
    server.stop()  # type: ignore[no-untyped-call]
    await serving
    if spool is None:
        return 0
    spool.stop()
    return BROKEN_SPOOL_EXIT if spool.broken.is_set() else 0


async def _ended(stop: asyncio.Event, serving: asyncio.Task[None], *, seconds: float) -> bool:
    """Whether there is nothing left to serve for; waits for it up to `seconds`."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), timeout=seconds)
    return stop.is_set() or serving.done()


def main() -> None:
    """Entry: the listening socket's number is the one argument."""
    sys.exit(uvloop.run(serve(int(sys.argv[1]), read())))


if __name__ == "__main__":
    main()
