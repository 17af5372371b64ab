"""Datasets in their first weeks: daily, hourly and quarter-hourly ones, few gaps each, in one pool.

No class is by itself here, since what a limit takes of the pool is the matter: in an estate that
was connected last week the tail of a daily dataset is that of hourly ones. Half of the datasets
have had a failure that was fixed before long: one late write, of the few that are known.
"""

import numpy as np

from lab.simulation.gaps import FIXED, SILENCE, Gaps, Simulated
from lab.simulation.scheduled import (
    MINUTE_SECONDS,
    Outages,
    SchedulePlan,
    delays_of,
    simulate_schedules,
)
from lab.simulation.wall_clock import DAY_SECONDS, midnight_after
from lineage.process.clock import to_micros
from slis.cadence.working_week import Micros

# One outage a dataset, as soon as there is a limit, or later.
FIRST_YOUNG_DAY, LAST_YOUNG_DAY = 9.0, 40.0
_OUTAGES = Outages(count=1, first_day=FIRST_YOUNG_DAY, span_days=25.0)
# Seconds of a cycle, and what a run usually takes.
_CYCLES = (
    (DAY_SECONDS, 40 * MINUTE_SECONDS),
    (3_600.0, 3 * MINUTE_SECONDS),
    (900.0, MINUTE_SECONDS),
)
_WITH_FAILURE = 0.5
# Of a cycle: how late the write is. Of a dataset's gaps before its outage: which it is in.
_LATE = (0.25, 0.45)
_PLACE = (0.5, 0.95)


def young(chance: np.random.Generator, count: int) -> Simulated:
    """Simulate that many datasets, a third of each cycle, with writes of the first 40 days."""
    parts = []
    for size, (cycle, usual) in zip(_thirds(count), _CYCLES, strict=True):
        delays = delays_of(chance, size, usual, cycle)
        simulated = simulate_schedules(
            chance, SchedulePlan("young", cycle, delays, outages=_OUTAGES)
        )
        parts.append(_with_failures(chance, simulated, cycle))
    return _joined(parts, _thirds(count))


def _thirds(count: int) -> list[int]:
    return [count - 2 * (count // 3), count // 3, count // 3]


def _with_failures(
    chance: np.random.Generator, simulated: Simulated, cycle_seconds: float
) -> Simulated:
    """Delay a write of every second dataset; the slots after it are unchanged."""
    gaps = simulated.gaps
    chosen = _chosen(chance, gaps)
    late = chance.uniform(*_LATE, chosen.size) * cycle_seconds * 1e6
    started, ended, kind = gaps.started_at.copy(), gaps.ended_at.copy(), gaps.kind.copy()
    ended[chosen] += late.astype(np.int64)
    started[chosen + 1] = ended[chosen]
    kind[chosen] = FIXED
    # The gap of a dataset is the write of its place, but for the last write of those before it.
    written = simulated.written_at.copy()
    written[chosen + gaps.dataset[chosen] + 1] = ended[chosen]
    return Simulated(
        simulated.name,
        simulated.dataset,
        written,
        Gaps(gaps.dataset, started, ended, gaps.oracle_due_at, kind),
    )


def _chosen(chance: np.random.Generator, gaps: Gaps) -> Micros:
    """Return the places of the gaps that end late: the second half before the outage."""
    silent = np.flatnonzero(gaps.kind == SILENCE)
    first = np.searchsorted(gaps.dataset, gaps.dataset[silent])
    places = first + ((silent - first) * chance.uniform(*_PLACE, silent.size)).astype(np.int64)
    kept: Micros = places[(chance.random(silent.size) < _WITH_FAILURE) & (places + 1 < silent)]
    return kept


def _joined(parts: list[Simulated], sizes: list[int]) -> Simulated:
    """Return all of them as one class; writes after the last day are left out."""
    last = to_micros(midnight_after(LAST_YOUNG_DAY))
    keys = np.cumsum([0, *sizes[:-1]])
    written = np.concatenate([part.written_at for part in parts])
    dataset = np.concatenate([part.dataset + key for part, key in zip(parts, keys, strict=True)])
    fields = {
        name: np.concatenate([getattr(part.gaps, name) for part in parts])
        for name in ("started_at", "ended_at", "oracle_due_at", "kind")
    }
    owner = [part.gaps.dataset + key for part, key in zip(parts, keys, strict=True)]
    known = fields["started_at"] < last
    gaps = Gaps(
        dataset=np.concatenate(owner)[known],
        **{name: values[known] for name, values in fields.items()},
    )
    return Simulated(
        "young",
        dataset[written < last],
        written[written < last],
        gaps,
        first_day=FIRST_YOUNG_DAY,
        last_day=LAST_YOUNG_DAY,
    )
