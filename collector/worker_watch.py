"""Waits for a worker to end, and ends one that no longer answers.

The listening socket stays open meanwhile: senders wait for the next worker without an error.
"""

import subprocess

import structlog

from lineage.process.health import HEALTH
from lineage.process.livez import Livez

_BEAT_SECONDS = 1.0
_BEATS_A_CHECK = 5
# 30 s: a starved machine answered after 16 s at a load of 60.
_MISSES = 6
# 150 s: a worker that starts imports for that long where it gets a hundredth of a core.
_START_MISSES = 30
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
