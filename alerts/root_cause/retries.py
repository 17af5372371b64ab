"""Wait for the retry of a failed run before people are notified: whether, and how long.

All times are whole microseconds since 1970 UTC.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np

from alerts.root_cause.faults import FaultGroup, FaultRoot
from alerts.root_cause.kinds import FAILED_KIND
from alerts.root_cause.snapshot import LineageSnapshot
from lineage.graph.adjacency import positions_in
from lineage.process.clock import SECOND_MICROS
from lineage.states import OPTIONAL, TIERS


class RunAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """Run of a job, as one of several tries.

    Attributes:
        began_at: its first event.
        failed_at: None: it did not fail.
        completed_at: None: it did not complete.
        nominal_at: the cycle that it is of; None: it names none.
        retries_left: so many more runs the scheduler announces; None: it announces nothing.
    """

    began_at: int
    failed_at: int | None = None
    completed_at: int | None = None
    nominal_at: int | None = None
    retries_left: int | None = None

    @property
    def is_running(self) -> bool:
        """Return whether it has not ended."""
        return self.failed_at is None and self.completed_at is None


class UsualFigures(msgspec.Struct, frozen=True):
    """Learned figures of a dataset, in seconds; None: not known."""

    cadence_seconds: float | None = None
    duration_seconds: float | None = None


class RetryWait(msgspec.Struct, frozen=True):
    """Wait for a retry, until which nobody is notified of a failure.

    Attributes:
        until: 0: no retry is expected.
        ends_at: when the retry that is under way usually ends; None: no retry is under way, or its
            usual duration is not known.
    """

    until: int = 0
    ends_at: int | None = None

    def can_meet(self, deadline: int, now: int) -> bool:
        """Return whether the retry that is under way may end before the deadline."""
        return self.ends_at is not None and now <= self.ends_at <= deadline


class RetryRules(msgspec.Struct, frozen=True):
    """Figures by which a retry is expected.

    Attributes:
        retry_seconds: a run that begins so soon after a failure is a retry of it; and the wait for
            an announced retry whose usual wait is not known.
        retry_cadences: without a nominal time on both, it begins within this part of a cadence too.
        announced_seconds: a run that begins so soon after a failure whose retry was announced is
            that retry.
        wait_factor: a retry is overdue after so many of the longest waits seen, and at last after
            `retry_cadences` of a cadence, or `announced_seconds` without a cadence.
        usual_retries: at least so many first failures were followed by a retry that completed,
        usual_share: and at least this share of all first failures.
        running_durations: a retry under way is overdue after so many usual durations,
        running_seconds: or after this, where the usual duration is not known.
        fresh_seconds: a failure older than this opens nothing: history that is loaded late.
    """

    retry_seconds: float = 900
    retry_cadences: float = 0.25
    announced_seconds: float = 86_400
    wait_factor: float = 2
    usual_retries: int = 3
    usual_share: float = 0.8
    running_durations: float = 3
    running_seconds: float = 3600
    fresh_seconds: float = 86_400


RETRY_RULES: Final = RetryRules()


def select_failures(found: Iterable[FaultGroup], snapshot: LineageSnapshot) -> frozenset[FaultRoot]:
    """Return the roots of latent groups that failed, of critical and important datasets."""
    failed = (each for each in found if each.is_latent and each.root.kind == FAILED_KIND)
    return frozenset(each.root for each in failed if _is_important(each, snapshot))


def _is_important(group: FaultGroup, snapshot: LineageSnapshot) -> bool:
    places, _ = positions_in(snapshot.keys, np.array(group.root_keys, dtype=np.int64))
    return bool((snapshot.datasets["tier"][places] != TIERS.index(OPTIONAL)).any())


def find_retry_wait(
    attempts: Sequence[RunAttempt], usual: UsualFigures, rules: RetryRules = RETRY_RULES
) -> RetryWait:
    """Return until when nobody is notified of the newest failure.

    Args:
        attempts: the newest runs of the job that failed, in any order.
        usual: of the dataset that it should have written.
        rules: see there.
    """
    ordered = sorted(attempts, key=lambda each: each.began_at)
    place = max((at for at, each in enumerate(ordered) if each.failed_at is not None), default=None)
    if place is None:
        return RetryWait()
    *before, failed = ordered[: place + 1]
    under_way = next((each for each in ordered[place + 1 :] if each.is_running), None)
    history = _RetryHistory(before, usual, rules)
    # Of a job that crashes and restarts, the next run is always under way.
    if under_way is not None and (failed.retries_left or not history.has_retried(failed)):
        return _wait_for(under_way, usual, rules)
    if not failed.retries_left and not history.is_retry_usual(failed):
        return RetryWait()
    return RetryWait((failed.failed_at or 0) + history.longest_wait())


def _wait_for(retry: RunAttempt, usual: UsualFigures, rules: RetryRules) -> RetryWait:
    duration = usual.duration_seconds
    if not duration:
        return RetryWait(retry.began_at + round(rules.running_seconds * SECOND_MICROS))
    return RetryWait(
        retry.began_at + round(rules.running_durations * duration * SECOND_MICROS),
        retry.began_at + round(duration * SECOND_MICROS),
    )


class _RetryHistory:
    """Failures of a job before its newest one, and what followed each."""

    def __init__(
        self, before: Sequence[RunAttempt], usual: UsualFigures, rules: RetryRules
    ) -> None:
        self._before, self._usual, self._rules = before, usual, rules
        self._pairs = list(pairwise(before))

    def has_retried(self, failed: RunAttempt) -> bool:
        """Return whether the failed run is itself the retry of the run before it."""
        return bool(self._before) and self._is_retry(self._before[-1], failed)

    def is_retry_usual(self, failed: RunAttempt) -> bool:
        """Return whether first failures were mostly followed by a retry that completed.

        A retry that failed is no first failure: nobody waits for another one.
        """
        if self.has_retried(failed):
            return False
        firsts = [
            self._is_retry(one, other) and other.completed_at is not None
            for at, (one, other) in enumerate(self._pairs)
            if one.failed_at is not None and not (at and self._is_retry(*self._pairs[at - 1]))
        ]
        followed = sum(firsts)
        rules = self._rules
        return followed >= rules.usual_retries and followed >= rules.usual_share * len(firsts)

    def longest_wait(self) -> int:
        """Return after how long a retry is overdue, by the longest wait seen."""
        waits = [
            other.began_at - (one.failed_at or 0)
            for one, other in self._pairs
            if self._is_retry(one, other)
        ]
        longest = min(self._rules.wait_factor * max(waits, default=0), self._wait_limit())
        return round(longest or self._rules.retry_seconds * SECOND_MICROS)

    def _wait_limit(self) -> float:
        """Return the longest wait, µs: what begins later is the next run, and no retry."""
        rules, cadence = self._rules, self._usual.cadence_seconds
        most = rules.retry_cadences * cadence if cadence else rules.announced_seconds
        return max(most, rules.retry_seconds) * SECOND_MICROS

    def _is_retry(self, failed: RunAttempt, other: RunAttempt) -> bool:
        """Return whether the other run is the retry of this one, which failed."""
        if failed.failed_at is None:
            return False
        gap = other.began_at - failed.failed_at
        nominals = failed.nominal_at, other.nominal_at
        if None not in nominals and nominals[0] != nominals[1]:
            return False
        if failed.retries_left:
            return 0 <= gap <= self._rules.announced_seconds * SECOND_MICROS
        if None not in nominals:
            return self._is_soon(gap)
        cadence = self._usual.cadence_seconds
        is_of_cycle = not cadence or gap <= self._rules.retry_cadences * cadence * SECOND_MICROS
        return is_of_cycle and self._is_soon(gap)

    def _is_soon(self, gap: int) -> bool:
        return 0 <= gap <= self._rules.retry_seconds * SECOND_MICROS
