"""Process that owns the listening socket, starts a worker, and ends one that no longer answers.

A worker may be killed at any moment: a client that connects before the next one serves waits in
backlog without an error. Spark's listener never repeats a refused connection.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from types import FrameType

import structlog

from lineage.process.health import HEALTH
from lineage.process.sockets import Livez

_BEAT_SECONDS = 1.0
_BEATS_A_CHECK = 5
# 30 s: a starved machine answered after 16 s at a load of 60.
_MISSES = 6
# 150 s: a worker that starts imports for that long where it gets a hundredth of a core.
_START_MISSES = 30

WORKER = ("-m", "collector.worker")
DAMAGED_SPOOL_EXIT = 76
SUSPECT = "--suspect"  # has the next worker look through the whole spool
# A sender waits 5 s in all: the pause and a worker's start must fit in, whatever happened before.
_HEALTHY_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
# glibc would keep freed bodies of megabytes for later ones, in an arena for each thread.
_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_ARENA_MAX": "2"}
_log = structlog.get_logger()


class WorkerWatch:
    """Watch of one worker; counts checks, since its parent may have been stopped too."""

    def __init__(self, worker: "subprocess.Popen[bytes]", address: tuple[str, int]) -> None:
        self._worker = worker
        self._livez = Livez(*address)
        self._beats = 0
        self._misses = 0
        self._allowed = _START_MISSES

    def wait(self) -> int:
        """Return the worker's exit status once it has ended."""
        try:
            while True:
                try:
                    return self._worker.wait(_BEAT_SECONDS)
                except subprocess.TimeoutExpired:
                    self._beat()
        finally:
            self._livez.close()

    def _beat(self) -> None:
        HEALTH.beat()
        if self._beats % _BEATS_A_CHECK == 0:
            if self._beats:
                self._check(answered=self._livez.has_answered())
            self._livez.ask()
        self._beats += 1

    def _check(self, *, answered: bool) -> None:
        if answered:
            HEALTH.succeed("worker")
            self._misses, self._allowed = 0, _MISSES
            return
        self._misses += 1
        if self._misses >= self._allowed:
            error = f"did not answer for {self._misses * _BEATS_A_CHECK} s and was killed"
            HEALTH.fail("worker", error)
            _log.error("collector_worker_hangs", pid=self._worker.pid, error=error)
            self._worker.kill()


class WorkerParent:
    """Parent of a worker; it starts another when one ends without a request to stop."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._stopping = False
        self._worker: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Run workers until SIGTERM or SIGINT; return the exit status."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        pause = _FIRST_PAUSE_SECONDS
        status = 0
        while not self._stopping:
            started = time.monotonic()
            status = self._run_worker(*[SUSPECT] * (status == DAMAGED_SPOOL_EXIT))
            if self._stopping:
                return 0
            _log.error("collector_worker_ended", status=status)
            pause = self._next_pause(pause, time.monotonic() - started)
            time.sleep(pause)
        return 0

    def _run_worker(self, *more: str) -> int:
        fd = self._listening.fileno()
        # The worker reads its standard input to notice that we are gone.
        self._worker = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, *WORKER, str(fd), *more],
            env=_ALLOCATOR | os.environ,
            pass_fds=[fd],
            stdin=subprocess.PIPE,
        )
        watch = WorkerWatch(self._worker, self._listening.getsockname()[:2])
        # A stop that came between the two lines found no worker to signal.
        if self._stopping:
            self._worker.terminate()
        return watch.wait()

    def _next_pause(self, pause: float, lived_seconds: float) -> float:
        if lived_seconds > _HEALTHY_SECONDS:
            return _FIRST_PAUSE_SECONDS
        return min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        if self._worker is not None and self._worker.poll() is None:
            self._worker.terminate()
