"""Stream thread, for as long as the role runs: lands waiting events, and looks again."""

import time
from threading import Event, Thread

import structlog

from lineage.process.health import HEALTH
from slis.stream.failures.causes import reason_line
from slis.stream.landing import BatchLanding, SparkGoneError, WaitError
from slis.stream.log.input_log import STOPPING

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 1.0  # behind a failure of the events, of which fewer are tried next
_LONGEST_PAUSE_SECONDS = 30.0  # behind one of the disk, the catalog or the machine
_PART = "stream"  # as health reports name it
_LONG_BATCH_SECONDS = 600.0


class PipelineStoppedError(Exception):
    """Error: the stream cannot go on by itself; the message says what, where and what to do."""


class StreamThread:
    """Thread that lands batches until it is stopped, or cannot go on."""

    def __init__(self, landing: BatchLanding, poll_seconds: float) -> None:
        """Land nothing yet.

        Args:
            landing: takes the steps.
            poll_seconds: between looks at the log.
        """
        self._landing = landing
        self._poll_seconds = poll_seconds
        self._stopped = Event()
        self._waits = 0
        self._step_since: float | None = None
        self._error: PipelineStoppedError | None = None
        self._thread = Thread(target=self._run, name="stream", daemon=True)

    def begin(self) -> None:
        """Start landing."""
        self._thread.start()

    def look(self) -> None:
        """Raise what the stream ended by, and report a batch that does not end.

        Raises:
            PipelineStoppedError: another pipeline lands the same events, Spark ended, or the lake
                is another one.
        """
        if self._error is not None:
            raise self._error
        since = self._step_since
        if since is not None and time.monotonic() - since >= _LONG_BATCH_SECONDS:
            # Not ended: on a starved machine it would be taken again each time, and never land.
            minutes = (time.monotonic() - since) / 60
            HEALTH.fail(_PART, f"a batch has run for {minutes:.0f} min without an end")

    def finish(self, seconds: float) -> None:
        """Stop behind the batch in flight, and wait for it as long as this."""
        self._stopped.set()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._landing.interrupted()

    def _run(self) -> None:
        while not self._stopped.is_set() and self._error is None:
            self._stopped.wait(self._step())

    def _step(self) -> float:
        """Land what waits; return the seconds until the next look."""
        began = self._step_since = time.monotonic()
        try:
            has_landed = self._landing.step()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: reported, or tried again
            return self._pause_after(error)
        finally:
            self._step_since = None
        self._waits = 0
        HEALTH.succeed(_PART)
        if has_landed and self._landing.is_behind:
            return 0.0
        # A batch has costs of its own: where few events come, they gather for the next one.
        taken = time.monotonic() - began if has_landed else 0.0
        return max(0.0, self._poll_seconds - taken)

    def _pause_after(self, error: Exception) -> float:
        if self._stopped.is_set():
            log.info("batch_cut_short", error=type(error).__name__)
            return 0.0
        is_own = isinstance(error, (*STOPPING, SparkGoneError, WaitError))
        HEALTH.fail(_PART, str(error).splitlines()[0] if is_own else reason_line(error))
        if isinstance(error, (*STOPPING, SparkGoneError)):
            self._error = PipelineStoppedError(str(error).splitlines()[0])
            return 0.0
        if isinstance(error, WaitError):
            self._waits += 1
            log.warning("batch_waits", tries=self._waits, error=str(error))
            return min(_PAUSE_SECONDS * 2.0 ** min(self._waits, 10), _LONGEST_PAUSE_SECONDS)
        log.warning("batch_failed", error=reason_line(error))
        return _PAUSE_SECONDS
