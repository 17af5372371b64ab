"""Count of failures of a range of events, in a file that outlives the process.

It is written before each try: a range that ends the process counts as one that failed. After two
failures a range is halved, until the one event that fails is alone.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog
from msgspec.structs import replace

from slis.stream.log.spool_reader import BatchLimits

log = structlog.get_logger(__name__)

_FAILURES = 2  # of a range, before it is halved, or its one event is set aside
# Of one event, each without a word: a kill from outside must not set an event aside.
_VANISHED = 5
_VMSTAT = Path("/proc/vmstat")


class BatchAttempt(msgspec.Struct, frozen=True):
    """State of the range that was tried last.

    Attributes:
        after_seq: the range begins behind this event.
        last_seq: its last event.
        events: how many it holds.
        rows: events that a batch may hold up to `until`; none: as many as the settings say.
        until: the last event of the range that failed.
        failures: tries that ended in an error of the events.
        vanished: tries in which the process ended without a word.
        is_running: a try began and has not ended.
        error: of the last failure.
        out_of_memory: processes that the kernel had ended to free memory when the try began.
        ends: where the range that failed ends in each partition of a log that has partitions: what
            comes behind it meanwhile is no part of its halves.
        log: name of the log; tries of another log say nothing. Empty: of an older release.
    """

    after_seq: int = -1
    last_seq: int = -1
    events: int = 0
    rows: int | None = None
    until: int = 0
    failures: int = 0
    vanished: int = 0
    is_running: bool = False
    error: str = ""
    out_of_memory: int = 0
    ends: dict[int, int] = {}
    log: str = ""

    @property
    def is_alone(self) -> bool:
        """Return whether the range is one event that failed as often as one may."""
        has_failed = self.failures >= _FAILURES or self.vanished >= _VANISHED
        return self.events == 1 and has_failed


class Attempts:
    """Tries of one pipeline."""

    def __init__(self, path: Path, source: str = "") -> None:
        """Read what the process before left; a try that it did not end has failed.

        Args:
            path: of the file.
            source: name of the log.
        """
        self._path = path
        self._source = source
        found = _read(path)
        self._now = _halved(_vanished(found)) if found.log in {"", source} else BatchAttempt()

    def limits(self, at: int, given: BatchLimits) -> BatchLimits:
        """Return the limits of the next batch, which begins behind `at`."""
        now = self._now
        if now.after_seq == at and now.failures + now.vanished:
            # The very same range, whatever came behind it meanwhile.
            return BatchLimits(now.events, sys.maxsize, now.last_seq, now.ends)
        if now.rows is None or at >= now.until:
            return given
        rows = min(given.rows, now.rows)
        return replace(given, rows=rows, until=now.until, ends=now.ends)

    def begin(
        self, after_seq: int, last_seq: int, events: int, ends: Mapping[int, int] | None = None
    ) -> BatchAttempt:
        """Note that a range is tried now.

        Raises:
            OSError: it cannot be noted; nothing may be tried.
        """
        before = self._now
        is_same = (before.after_seq, before.last_seq) == (after_seq, last_seq)
        found = before if is_same else replace(before, failures=0, vanished=0, error="")
        keeps = before.rows is not None and after_seq < before.until
        found = replace(
            found,
            after_seq=after_seq,
            last_seq=last_seq,
            events=events,
            rows=before.rows if keeps else None,
            until=before.until if keeps else 0,
            is_running=True,
            out_of_memory=_kills(),
            ends=before.ends if keeps or is_same else dict(ends or {}),
            log=self._source,
        )
        self._write(found)
        return found

    def failed(self, error: str) -> BatchAttempt:
        """Note that the events of the range made it fail; return what is known before halving."""
        found = replace(
            self._now, failures=self._now.failures + 1, is_running=False, error=error[:2_000]
        )
        self._write(_halved(found))
        return found

    def interrupted(self) -> None:
        """Note that the try ended for another reason than its events: it does not count."""
        self._write(replace(self._now, is_running=False))

    def forgiven(self) -> None:
        """Note that other events fail as well: the tries so far say nothing of this range."""
        self._write(replace(self._now, failures=0, vanished=0, is_running=False, error=""))

    def landed(self) -> None:
        """Note that the range is in the catalog."""
        now = self._now
        if now.rows is not None and now.last_seq < now.until:
            now = replace(now, failures=0, vanished=0, is_running=False, error="")
        else:
            now = BatchAttempt()
        self._write(now)

    def _write(self, attempt: BatchAttempt) -> None:
        # Not synced: a machine that loses power is not the fault of an event.
        temporary = self._path.with_suffix(".new")
        temporary.write_bytes(msgspec.json.encode(attempt))
        temporary.replace(self._path)
        self._now = attempt


def _read(path: Path) -> BatchAttempt:
    try:
        return msgspec.json.decode(path.read_bytes(), type=BatchAttempt)
    except FileNotFoundError:
        return BatchAttempt()
    except (msgspec.DecodeError, OSError) as error:
        log.warning("attempts_unreadable", path=str(path), error=str(error))
        return BatchAttempt()


def _vanished(attempt: BatchAttempt) -> BatchAttempt:
    if not attempt.is_running:
        return attempt
    # The kernel ended processes to free memory: the machine is too small, not an event odd.
    is_of_machine = _kills() != attempt.out_of_memory
    return replace(
        attempt, is_running=False, vanished=attempt.vanished + (0 if is_of_machine else 1)
    )


def _halved(attempt: BatchAttempt) -> BatchAttempt:
    if attempt.events < _FAILURES or attempt.failures + attempt.vanished < _FAILURES:
        return attempt
    return replace(
        attempt, rows=attempt.events // 2, until=attempt.last_seq, failures=0, vanished=0
    )


def _kills() -> int:
    """Count processes that the kernel has ended to free memory since it started."""
    try:
        lines = _VMSTAT.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
