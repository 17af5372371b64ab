"""Datasets that a scheduler writes: daily, on weekdays, hourly, with changes of cadence."""

import msgspec
import numpy as np

from lab.simulation.delays import Delays
from lab.simulation.gaps import CHANGE, SILENCE, USUAL, Gaps, Simulated, flatten, silence
from lab.simulation.wall_clock import DAY_SECONDS, DAYS, WEEK_SECONDS, is_holiday, utc_micros
from lineage.graph.adjacency import Flags
from slis.cadence.working_week import Floats, Micros

ALPHA_PER_WEEK = 0.001
MINUTE_SECONDS = 60.0
CHANGE_DAYS = (80.0, 110.0, 140.0)
_CHANGING = 0.1
# What an outage takes, in cycles.
_OUTAGE_CYCLES = (4.0, 12.0)
_WEEKEND = 5
# Half cycles from slot to slot.
_FASTER, _USUAL, _SLOWER = 1, 2, 4
_ROUND = 300.0
_WHOLE_GAPS = 3


class Outages(msgspec.Struct, frozen=True):
    """Number of changes a dataset has, each in a span of days of its own from the first on."""

    count: int = 3
    first_day: float = 30.0
    span_days: float = (DAYS - 40) / 3


class SchedulePlan(msgspec.Struct, frozen=True):
    """Settings of a class's schedulers: a slot each cycle, until the cadence changes."""

    name: str
    cycle_seconds: float
    delays: Delays
    is_weekday: bool = False
    outages: Outages = Outages()


class Slots(msgspec.Struct, frozen=True):
    """Slots that are used, ordered by dataset and time; arrays of one length.

    `every` is how many half cycles lie between a slot and the next.
    """

    dataset: Micros
    planned: Micros
    written_at: Micros
    every: Micros


def daily(chance: np.random.Generator, count: int) -> Simulated:
    """Simulate daily jobs, each at a time of its own, that take minutes to hours."""
    plan = SchedulePlan(
        "daily", DAY_SECONDS, delays_of(chance, count, 40 * MINUTE_SECONDS, DAY_SECONDS)
    )
    return simulate_schedules(chance, plan)


def weekday(chance: np.random.Generator, count: int) -> Simulated:
    """Return which days are Monday to Friday and no holiday."""
    delays = delays_of(chance, count, 40 * MINUTE_SECONDS, DAY_SECONDS)
    plan = SchedulePlan("weekday", DAY_SECONDS, delays, is_weekday=True)
    return simulate_schedules(chance, plan)


def hourly(chance: np.random.Generator, count: int) -> Simulated:
    """Simulate hourly jobs."""
    plan = SchedulePlan("hourly", 3_600.0, delays_of(chance, count, 3 * MINUTE_SECONDS, 3_600.0))
    return simulate_schedules(chance, plan)


def delays_of(chance: np.random.Generator, count: int, usual: float, cycle: float) -> Delays:
    """Draw that many datasets that take about `usual` seconds of each `cycle`."""

    def between(low: float, high: float) -> Floats:
        return chance.uniform(low, high, count)

    own = usual * np.exp(0.5 * chance.standard_normal(count))
    own = np.minimum(own, cycle / 6)
    is_heavy = chance.random(count) < 1 / 3
    return Delays(
        usual=own,
        spread=between(0.1, 0.3),
        retry_rate=between(0.005, 0.04),
        retry_seconds=own * between(0.5, 1.0) + between(1.0, 5.0) / 40 * usual,
        stall_rate=np.where(is_heavy, between(0.005, 0.02), 1e-9),
        stall_shape=between(2.5, 4.0),
        most=np.full(count, 0.45 * cycle),
    )


def simulate_schedules(chance: np.random.Generator, plan: SchedulePlan) -> Simulated:
    """Return slots half a cycle apart: a dataset uses every second one, later each or a fourth.

    One in ten changes: its cadence is then twice or half as long.
    """
    count = plan.delays.usual.size
    slots = round(2 * DAYS * DAY_SECONDS / plan.cycle_seconds)
    half_cycle = plan.cycle_seconds / 2
    changed = chance.choice(CHANGE_DAYS, count) * DAY_SECONDS / half_cycle
    later = np.where(chance.random(count) < 1 / 2, _SLOWER, _FASTER)
    later = np.where(chance.random(count) < _CHANGING, later, _USUAL)
    number = np.arange(slots)
    every = np.where(number < changed[:, None], _USUAL, later[:, None])
    first = np.round(chance.uniform(0, half_cycle, count) / _ROUND) * _ROUND
    wall = first[:, None] + number * half_cycle
    number = np.broadcast_to(number, wall.shape)
    present = np.ones(wall.shape, dtype=np.bool_)
    if plan.is_weekday:
        # Every second working day, once it is slower: of what the scheduler counts.
        present = (wall // DAY_SECONDS % 7 < _WEEKEND) & ~is_holiday(wall)
        number = np.cumsum(present, axis=1) - 1
    present &= number % every == 0
    planned = _instants(wall[present], plan)
    delays = plan.delays.drawn(chance, slots)[present]
    at = planned + (delays * 1e6).astype(np.int64)
    return _judged(chance, plan, Slots(flatten(present), planned, at, every[present]))


def _instants(wall: Floats, plan: SchedulePlan) -> Micros:
    """Return slots: a daily job follows the wall clock; an hourly one runs each hour."""
    if plan.cycle_seconds >= DAY_SECONDS:
        return utc_micros(wall)
    return utc_micros(np.zeros(1)) + np.round(wall * 1e6).astype(np.int64)


def _judged(chance: np.random.Generator, plan: SchedulePlan, slots: Slots) -> Simulated:
    """Add outages, and when the oracle calls each gap late: the next slot and its delay's tail."""
    begin, end = simulate_outages(chance, plan.delays.usual.size, plan.cycle_seconds, plan.outages)
    due = np.append(slots.planned[1:], 0)
    oracle = due + (np.append(_tails(plan, slots)[1:], 0) * 1e6).astype(np.int64)
    kept, follows = silence(slots.dataset, slots.written_at, begin, end)
    rows, times = slots.dataset[kept], slots.written_at[kept]
    is_unsure = _is_unsure(rows, slots.every[kept] == _SLOWER, follows)
    kind = np.where(follows, SILENCE, np.where(is_unsure, CHANGE, USUAL))
    inner = np.append(rows[1:] == rows[:-1], False)
    gaps = Gaps(
        dataset=rows[inner],
        started_at=times[inner],
        ended_at=np.append(times[1:], 0)[inner],
        oracle_due_at=oracle[kept][inner],
        kind=kind[inner],
    )
    return Simulated(plan.name, rows, times, gaps, has_calendar=plan.is_weekday)


def _tails(plan: SchedulePlan, slots: Slots) -> Floats:
    """Return the delay of each slot's write that 1,000 weeks exceed once, in seconds."""
    usual = WEEK_SECONDS / plan.cycle_seconds * (_WEEKEND / 7 if plan.is_weekday else 1)
    tails = np.zeros(slots.dataset.size)
    for every in (_FASTER, _USUAL, _SLOWER):
        weekly = np.full(plan.delays.usual.size, usual * _USUAL / every)
        mine = slots.every == every
        tails[mine] = plan.delays.quantile(ALPHA_PER_WEEK / weekly)[slots.dataset[mine]]
    return tails


def _is_unsure(row: Micros, is_slow: Flags, is_silent: Flags) -> Flags:
    """Return gaps of a slower cadence until three of them were seen whole, with outages or without.

    Args:
        row: the dataset of each gap, in order; a cadence that grew slower stays so.
        is_slow: whether the gap is of such a cadence.
        is_silent: whether an outage lies in it.
    """
    seen = np.cumsum(is_slow & ~is_silent)
    first = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    before = np.append(0, seen)[first]
    sizes = np.diff(np.append(first, row.size))
    whole = seen - (is_slow & ~is_silent) - np.repeat(before, sizes)
    return is_slow & (whole < _WHOLE_GAPS)


def simulate_outages(
    chance: np.random.Generator,
    count: int,
    cycle_seconds: float | Floats,
    plan: Outages = Outages(),  # noqa: B008 - it is frozen
) -> tuple[Floats, Floats]:
    """Return the begin and end of each outage, in microseconds, of shape (datasets, outages)."""
    shape = (count, plan.count)
    spans = np.arange(plan.count) + chance.uniform(0, 0.8, shape)
    begin = utc_micros((plan.first_day + plan.span_days * spans) * DAY_SECONDS).astype(np.float64)
    length = chance.uniform(*_OUTAGE_CYCLES, shape) * np.reshape(cycle_seconds, (-1, 1))
    return begin, begin + length * 1e6
