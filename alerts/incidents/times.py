"""The times of an incident by name: one wording for messages, pages and commands."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.incidents.estate import NEVER, Estate
from alerts.incidents.kinds import KINDS

# What the beginning of a fault is, where the dataset is neither late nor has a failed run.
_BEGAN: Final = {
    "set_aside": "first set aside at",
    "access": "let in since",
    "ingestion": "failing since",
}
_OF_PART: Final = {
    "pipeline": "no complete evaluation since",
    "collector": "no heartbeat since",
}
# Content is judged by an evaluation alone. Of what is late or failed, older versions kept no more.
_FOUND: Final = "found bad at"
_BAD: Final = "bad since"
_LATE_KINDS: Final = frozenset(each.id for each in KINDS if each.delays)
# Of messages that are no incident's.
BEGAN: Final = "began at"
FIRING: Final = "firing since"
HIDDEN: Final = "hidden since"


class NamedTime(msgspec.Struct, frozen=True):
    """A time, and what it is of: `late since`. In µs."""

    name: str
    at: int


class FaultTimes(msgspec.Struct, frozen=True):
    """What is known of the root's own datasets, in µs; None: there is no such time.

    Attributes:
        last_write_at: of the newest write.
        late_since: the first limit that has passed.
        first_failed_at: of the first failed run since the newest write.
    """

    last_write_at: int | None = None
    late_since: int | None = None
    first_failed_at: int | None = None

    def following(self, before: "FaultTimes") -> "FaultTimes":
        """Return these as the times of an incident that goes on: what began did not begin again."""
        return FaultTimes(
            self.last_write_at,
            _earlier(self.late_since, before.late_since),
            _earlier(self.first_failed_at, before.first_failed_at),
        )


class Course(msgspec.Struct, frozen=True):
    """When Lineward did what, in µs.

    Attributes:
        seen_at: the first evaluation that found it.
        opened_at: when people were first notified; None: they were not.
        opens: each time that it opened.
        resolved_at: the last time; None: it is not resolved.
    """

    seen_at: int
    opened_at: int | None = None
    opens: tuple[int, ...] = ()
    resolved_at: int | None = None


def read_times(given: Estate, keys: Iterable[int], now: int) -> FaultTimes:
    """Return what the estate knows of these datasets at `now`, µs."""
    rows = given.datasets[np.searchsorted(given.keys, sorted(keys))]
    deadlines = rows["deadline_at"]
    written = _known(rows["last_written_at"])
    return FaultTimes(
        max(written, default=None),
        min(_known(deadlines[deadlines <= now]), default=None),
        min(_known(rows["failed_at"]), default=None),
    )


def began(kind: str, part: str, onset: int, known: FaultTimes) -> list[NamedTime]:
    """Return when a fault began, by what is known of it, and the last write before.

    Args:
        kind: of the fault.
        part: of Lineward; empty for a fault of datasets.
        onset: since when the fault is there, µs.
        known: of its own datasets.
    """
    told = [NamedTime("late since", known.late_since or NEVER)]
    told += [NamedTime("first failed at", known.first_failed_at or NEVER)]
    told = [each for each in told if each.at != NEVER and kind in _LATE_KINDS]
    told = told or [NamedTime(_beginning(kind, part), onset)]
    if known.last_write_at is not None:
        told.append(NamedTime("last write at", known.last_write_at))
    return _in_order(told)


def _beginning(kind: str, part: str) -> str:
    if kind == "ingestion" and part in _OF_PART:
        return _OF_PART[part]
    return _BEGAN.get(kind, _BAD if kind in _LATE_KINDS else _FOUND)


def timeline(begun: Iterable[NamedTime], course: Course) -> list[NamedTime]:
    """Return all times of an incident, the earliest first."""
    return _in_order([*begun, *_steps(course)])


def _steps(course: Course) -> Iterator[NamedTime]:
    first = course.opened_at or course.seen_at
    again = [at for at in course.opens if at > first]
    yield NamedTime("first detected at" if again else "detected at", first)
    if again:
        yield NamedTime("reopened at", again[-1])
    if course.resolved_at is not None:
        yield NamedTime("resolved at", course.resolved_at)


def _in_order(times: Iterable[NamedTime]) -> list[NamedTime]:
    return sorted(times, key=lambda each: each.at)


def _known(times: NDArray[np.int64]) -> list[int]:
    return [at for at in times.tolist() if at != NEVER]


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((at for at in (one, other) if at is not None), default=None)
