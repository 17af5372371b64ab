"""Process that serves: Granian on a socket that its parent owns."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial

import structlog
import uvloop
from granian.constants import Interfaces

from collector import cursor_worker, cursors, metrics, spool_file
from collector.admission import Admission
from collector.app import App
from collector.commits import SpoolCommits
from collector.deadlines import Deadlines
from collector.opening import make_whole
from collector.parent import DAMAGED_SPOOL_EXIT, SUSPECT
from collector.sender_secret import ensure_secret, secret_path
from collector.settings import CollectorSettings, read_collector_settings, read_sender_token
from collector.spool import Spool
from lineage.process.clock import system_clock
from lineage.process.disk import disk_problem
from lineage.process.environment import InvalidSettingError
from lineage.process.listening import InheritedServer, http_server
from lineage.process.logs import log_to_stderr

BROKEN_SPOOL_EXIT = 75
_LOOK_SECONDS = 0.05
_REOPEN_SECONDS = 0.5
_PATIENT_SECONDS = 2.0  # a sender waits 5 s in all
Words = tuple[str, ...]
_log = structlog.get_logger()


def _server(app: App, fd: int, settings: CollectorSettings) -> InheritedServer:
    seconds = settings.limits.read_deadline_seconds
    return http_server(app, fd, Interfaces.RSGI, header_seconds=seconds)


def _open(
    commits: SpoolCommits, admission: Admission, settings: CollectorSettings, more: Words
) -> Spool | None:
    """Return the spool, or None while the disk does not allow it to open."""
    place, limits = settings.place, settings.limits
    path = place.data_dir / "spool.db"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        admission.secret = ensure_secret(secret_path(place.data_dir, place.sender_secret_file))
        ask = partial(cursors.read_or_nothing, place)
        make_whole(path, limits, ask, system_clock(), is_suspect=SUSPECT in more)
        spool = Spool(path, limits, system_clock, commits)
        spool.start()
    except (sqlite3.Error, OSError, InvalidSettingError) as error:
        reason = disk_problem(place.data_dir) or str(error)
        commits.explain(f"the spool cannot be opened: {reason}")
        _log.error("spool_cannot_open", path=str(path), error=reason)
        return None
    return spool


async def _keep_opening(open_: Callable[[], Spool | None], stop: asyncio.Event) -> Spool | None:
    """Try until it is open; None when the worker is stopped before that."""
    while not stop.is_set():
        # In a thread: while a large spool is repaired, senders are answered that it is.
        spool = await asyncio.to_thread(open_)
        if spool is not None:
            return spool
        await _wait(stop, _REOPEN_SECONDS)
    return None


def _attach(spool: Spool, commits: SpoolCommits, settings: CollectorSettings) -> None:
    commits.attach(spool)
    metrics.SPOOL.spool = spool
    cursor_worker.start(spool, settings)
    spool_file.start_checkpoints(settings.place.data_dir / "spool.db")
    _log.info("collector_ready", pid=os.getpid())


async def serve(fd: int, settings: CollectorSettings, more: Words = ()) -> int:
    """Serve until a request to stop; return the exit status.

    Args:
        fd: of the listening socket.
        settings: of the process.
        more: `parent.SUSPECT`, where the spool is to be looked through.
    """
    loop, limits = asyncio.get_running_loop(), settings.limits
    stop = asyncio.Event()
    commits = SpoolCommits(loop)
    admission = Admission(settings.place.own_hosts, read_sender_token(limits))
    app = App(commits, limits, admission, Deadlines(loop, limits.read_deadline_seconds))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _drain, app, stop, limits.drain_seconds)
    # The parent holds the other end of standard input: it becomes readable when the parent is gone.
    loop.add_reader(sys.stdin.fileno(), stop.set)
    open_ = partial(_open, commits, admission, settings, more)
    opening = asyncio.create_task(_keep_opening(open_, stop))
    opening.add_done_callback(lambda task: _attach_opened(task, commits, settings))
    # Before the first request: who waits in the backlog is better served late than rejected.
    await asyncio.wait({opening}, timeout=_PATIENT_SECONDS)
    metrics.STARTED.set_to_current_time()
    server = _server(app, fd, settings)
    serving = asyncio.create_task(server.serve())
    serving.add_done_callback(lambda _: stop.set())
    spool = await opening
    while not (stop.is_set() or spool is None or spool.broken.is_set()):
        await _wait(stop, _LOOK_SECONDS)
    server.stop()  # type: ignore[no-untyped-call]
    await serving
    return 0 if spool is None else _close(spool)


def _drain(app: App, stop: asyncio.Event, seconds: float) -> None:
    """Answer for so long while senders go elsewhere, then stop."""
    _log.info("collector_draining", seconds=seconds)
    app.drain()
    asyncio.get_running_loop().call_later(seconds, stop.set)


def _attach_opened(
    opening: asyncio.Task[Spool | None], commits: SpoolCommits, settings: CollectorSettings
) -> None:
    if not opening.cancelled() and opening.exception() is None and (spool := opening.result()):
        _attach(spool, commits, settings)


def _close(spool: Spool) -> int:
    spool.stop()
    if spool.damaged.is_set():
        return DAMAGED_SPOOL_EXIT
    return BROKEN_SPOOL_EXIT if spool.broken.is_set() else 0


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    """Wait until the worker is stopped, up to `seconds`."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), timeout=seconds)


def main() -> None:
    """Start as a program: arguments are the listening socket's number and words of the parent."""
    log_to_stderr()
    sys.exit(uvloop.run(serve(int(sys.argv[1]), read_collector_settings(), tuple(sys.argv[2:]))))


if __name__ == "__main__":
    main()
