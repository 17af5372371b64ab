"""Names of the times of an incident: one wording for messages, pages and commands."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.kinds import FAULT_KINDS
from alerts.root_cause.snapshot import NEVER, LineageSnapshot

# What the beginning of a fault is, where the dataset is neither late nor has a failed run.
_BEGAN: Final = {
    "set_aside": "first failed event at",
    "access": "access allowed since",
    "ingestion": "failing since",
}
_OF_PART: Final = {
    "pipeline": "no complete evaluation since",
    "collector": "no heartbeat since",
}
# Content is judged by an evaluation alone. Of what is late or failed, older versions kept no more.
_FOUND: Final = "found bad at"
_BAD: Final = "bad since"
_LATE_KINDS: Final = frozenset(each.id for each in FAULT_KINDS if each.delays)
# Of messages that are no incident's.
BEGAN_AT: Final = "began at"
FIRING_SINCE: Final = "firing since"
HIDDEN_SINCE: Final = "hidden since"


class NamedTime(msgspec.Struct, frozen=True):
    """Time in µs, and its name: `late since`."""

    name: str
    at: int


class FaultTimes(msgspec.Struct, frozen=True):
    """Times of the root's own datasets, in µs; None: there is no such time.

    Attributes:
        last_write_at: of the newest write.
        late_since: the first limit that has passed.
        first_failed_at: of the first failed run since the newest write.
    """

    last_write_at: int | None = None
    late_since: int | None = None
    first_failed_at: int | None = None

    def merge(self, before: "FaultTimes") -> "FaultTimes":
        """Return the times of an incident that goes on: its beginning stays the first."""
        return FaultTimes(
            self.last_write_at,
            _earlier(self.late_since, before.late_since),
            _earlier(self.first_failed_at, before.first_failed_at),
        )


class LifeTimes(msgspec.Struct, frozen=True):
    """Times at which Lineward acted, in µs.

    Attributes:
        seen_at: the first evaluation that found it.
        opened_at: when it first opened; None: it never did.
        opens: each time that it opened.
        resolved_at: the last time; None: it is not resolved.
    """

    seen_at: int
    opened_at: int | None = None
    opens: tuple[int, ...] = ()
    resolved_at: int | None = None


def read_times(snapshot: LineageSnapshot, keys: Iterable[int], now: int) -> FaultTimes:
    """Return the times of these datasets at `now`, µs."""
    rows = snapshot.datasets[np.searchsorted(snapshot.keys, sorted(keys))]
    deadlines = rows["deadline_at"]
    written = _drop_never(rows["last_written_at"])
    return FaultTimes(
        max(written, default=None),
        min(_drop_never(deadlines[deadlines <= now]), default=None),
        min(_drop_never(rows["failed_at"]), default=None),
    )


def name_beginning(kind: str, part: str, onset: int, known: FaultTimes) -> list[NamedTime]:
    """Return when a fault began, and the last write of its datasets.

    Args:
        kind: of the fault.
        part: of Lineward; empty for a fault of datasets.
        onset: since when the fault is there, µs.
        known: of its own datasets.
    """
    found = [NamedTime("late since", known.late_since or NEVER)]
    found += [NamedTime("first failed at", known.first_failed_at or NEVER)]
    found = [each for each in found if each.at != NEVER and kind in _LATE_KINDS]
    found = found or [NamedTime(_beginning_of(kind, part), onset)]
    if known.last_write_at is not None:
        found.append(NamedTime("last write at", known.last_write_at))
    return _sort(found)


def _beginning_of(kind: str, part: str) -> str:
    if kind == "ingestion" and part in _OF_PART:
        return _OF_PART[part]
    return _BEGAN.get(kind, _BAD if kind in _LATE_KINDS else _FOUND)


def list_times(begun: Iterable[NamedTime], life: LifeTimes) -> list[NamedTime]:
    """Return all times of an incident, the earliest first."""
    return _sort([*begun, *_list_steps(life)])


def _list_steps(life: LifeTimes) -> Iterator[NamedTime]:
    first = life.opened_at or life.seen_at
    again = [at for at in life.opens if at > first]
    yield NamedTime("first detected at" if again else "detected at", first)
    if again:
        yield NamedTime("reopened at", again[-1])
    if life.resolved_at is not None:
        yield NamedTime("resolved at", life.resolved_at)


def _sort(times: Iterable[NamedTime]) -> list[NamedTime]:
    return sorted(times, key=lambda each: each.at)


def _drop_never(times: NDArray[np.int64]) -> list[int]:
    return [at for at in times.tolist() if at != NEVER]


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((at for at in (one, other) if at is not None), default=None)
