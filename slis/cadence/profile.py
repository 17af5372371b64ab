"""Profile of a dataset's cadence by its writes: numbers of a class, ready to be pooled.

A loop over a sequence, which no window function or aggregate of Spark can express. So each
dataset's writes come here as one array. Irregular writes are in `irregular_gaps`.
"""

import msgspec
import numpy as np
import pandas as pd
from msgspec.structs import replace

from lineage.graph.adjacency import Flags
from slis.cadence.deliveries import recurring_gap
from slis.cadence.irregular_gaps import MISS_MEDIANS, bursts_end_at, gamma_deviation, irregular
from slis.cadence.training import (
    MIN_GAPS,
    OWN_MARGIN,
    Places,
    median_deviation,
    outage_gaps,
    training_gaps,
)
from slis.cadence.wide_limits import FEW, wide_limit
from slis.cadence.working_week import WEEK_HOURS, Floats, Hours

STREAMING, PERIODIC, REGULAR, BURSTY, EVENT_DRIVEN = (
    "streaming",
    "periodic",
    "regular",
    "bursty",
    "event_driven",
)
# The class of a dataset whose writes our own code failed on: no limit, and its state is unknown.
FAILED_CADENCE = "failed"
MAX_GAPS = 500
# What is written more often need not be learned as often.
FAST_SECONDS = 3_600.0
_WEEK_SECONDS = 7 * 86_400.0
_REGULAR_SPREAD = 0.2
_LEAST_SPREAD = 0.01
# Usual settings of schedulers, in minutes: a cadence this near to one of them is it.
_CYCLES = 60.0 * np.array(
    [5, 10, 15, 20, 30, *(60 * hours for hours in (1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 120, 168))]
)
_NEAR = 0.03
# Of a cycle: how early a write may come, how far delays may spread, which share may be left out.
_EARLY = 0.25
_LOCKED_SPREAD = 0.1
_SKIPPED = 0.05
_FEW_SKIPPED = 3
_DELAYED = 0.1
# Writes that show the phase; writes in a row that are no delay any more, but another phase.
_NEWEST, _RUN = 100, 9


class Cadence(msgspec.Struct, frozen=True):
    """Seconds are working seconds. Without gaps there are no figures.

    Attributes:
        usual_gap: from write to write.
        level: what the pool's scores begin at; one is (seconds - level) / scale.
        share: of a dataset's cycles that have a score at all.
        largest: gap, or delay if periodic, ever trained.
        cycle_seconds: if periodic, of the schedule: a slot is at `phase` + n cycles.
        recurring: the gap that came five times, misses included: no limit is below it.
    """

    cadence_class: str
    gaps: int
    usual_gap: float | None = None
    spread: float | None = None
    level: float | None = None
    scale: float | None = None
    share: float | None = None
    largest: float | None = None
    cycles_per_week: float | None = None
    cycle_seconds: float | None = None
    phase: float | None = None
    scores: tuple[float, ...] = ()
    recurring: float | None = None


def cadence_of(
    working: Floats,
    teaches: Flags,
    hours: Hours,
    *,
    has_failed: Flags | None = None,
    is_streaming: bool = False,
) -> Cadence:
    """Return the cadence of writes.

    Args:
        working: when they were, in working seconds, in order.
        teaches: whether the gap before each write may.
        hours: of the week, that count.
        has_failed: whether a run failed in the gap before each write; None: nowhere.
        is_streaming: of the newest write.
    """
    gaps = np.diff(working)
    if has_failed is not None and has_failed.any():
        teaches = teaches & ~np.append(False, outage_gaps(gaps, has_failed[1:]))
    usable = np.flatnonzero(teaches[1:] & (gaps > 0))
    week = _WEEK_SECONDS * float(hours.sum()) / WEEK_HOURS
    ends = None if is_streaming else bursts_end_at(gaps[usable])
    if ends is not None:
        pauses = gaps[usable[gaps[usable] > ends]]
        return _irregular(pauses, week, BURSTY)
    recent = usable[-MAX_GAPS:]
    places = recent[training_gaps(gaps[recent])]
    if not places.size:
        return Cadence(STREAMING if is_streaming else EVENT_DRIVEN, 0)
    if is_streaming:
        return _alike(gaps[places], week, STREAMING)
    cadence = _unlike_bursts(working, teaches, recent, places, week)
    # Irregular gaps have no cadence that could have changed, only quiet times that recur.
    is_irregular = cadence.cadence_class == EVENT_DRIVEN
    settled = 0 if is_irregular else int(np.searchsorted(usable, places[0]))
    recurring = recurring_gap(gaps[usable], settled, OWN_MARGIN)
    return _with_wide_limit(replace(cadence, recurring=recurring), gaps[usable])


def _with_wide_limit(cadence: Cadence, gaps: Floats) -> Cadence:
    """Return the cadence with a limit of its own gaps, where no tail can be learned."""
    found = wide_limit(gaps, cadence.gaps)
    if found is None:
        return cadence
    cadence_class, limit = found
    count = gaps.size if cadence_class != FEW else cadence.gaps
    return Cadence(
        cadence_class,
        count,
        usual_gap=float(np.median(gaps)),
        spread=median_deviation(gaps, float(np.median(gaps))),
        level=limit,
        largest=float(gaps.max()),
        recurring=cadence.recurring,
    )


def _unlike_bursts(
    working: Floats, teaches: Flags, recent: Places, places: Places, week: float
) -> Cadence:
    """Return the cadence of writes that come neither in bursts nor as a stream."""
    gaps = np.diff(working)
    if found := _periodic(working, teaches, recent, places, week):
        return found
    if _is_regular(gaps[places]):
        return _alike(gaps[places], week, REGULAR)
    return _irregular(gaps[recent], week, EVENT_DRIVEN)


def _periodic(
    working: Floats, teaches: Flags, recent: Places, places: Places, week: float
) -> Cadence | None:
    """Return the profile of writes on a schedule; None for others."""
    gaps = np.diff(working)
    usual = float(np.median(gaps[places]))
    cycle = float(_CYCLES[np.argmin(np.abs(np.log(_CYCLES / usual)))])
    since = gaps[recent[recent >= places[0]]]
    is_steady = abs(usual - cycle) <= _NEAR * cycle and recent.size >= MIN_GAPS
    if not is_steady or (since > 1.5 * cycle).sum() > max(_FEW_SKIPPED, _SKIPPED * since.size):
        return None
    first = int(places[0])
    newest = working[max(first, working.size - _NEWEST) :]
    phase = _phase(newest, cycle)
    if median_deviation(delays(newest, phase, cycle), 0.0) > _LOCKED_SPREAD * cycle:
        return None
    start = _steady_from(working, first, cycle)
    start += _since_slip(delays(working[start:], phase, cycle), cycle)
    is_first = _begin_slots(working[start:], phase, cycle)
    late = np.sort(delays(working[start:][teaches[start:] & is_first], phase, cycle))
    count = 1 + int(_DELAYED * late.size)
    level, beyond = float(late[-count - 1]), late[-count:]
    scale = max(float((beyond - level).mean()), 1.0)
    if is_new := late.size <= MIN_GAPS:
        # A cadence that three gaps agreed on: too few for a tail, but the dataset is no new one.
        level, scale = float(late[-1]), 0.0
    return Cadence(
        cadence_class=PERIODIC,
        gaps=MIN_GAPS if is_new else late.size - 1,
        usual_gap=usual,
        spread=median_deviation(late, 0.0),
        level=level,
        scale=scale,
        share=count / late.size,
        largest=float(late[-1]),
        cycles_per_week=week / cycle,
        cycle_seconds=cycle,
        phase=phase,
        scores=() if is_new else tuple(((beyond - level) / scale).tolist()),
    )


def _phase(working: Floats, cycle: float) -> float:
    """Return the usual place of a write in a cycle: a mean direction, then the median around it."""
    angle = np.angle(np.exp(2j * np.pi * (working / cycle % 1.0)).mean())
    phase = float(angle) / (2 * np.pi) * cycle
    for _ in range(2):
        phase += float(np.median(delays(working, phase, cycle)))
    return phase


def _steady_from(working: Floats, place: int, cycle: float) -> int:
    """Return how far back the cycle was the same: half a year of delays shows longer tails."""
    while place > 0:
        before = max(0, place - MAX_GAPS)
        usual = float(np.median(np.diff(working[before : place + 1])))
        if abs(usual - cycle) > _NEAR * cycle:
            return place
        place = before
    return place


def _since_slip(late: Floats, cycle: float) -> int:
    """Return where the schedule last moved within its cycle: each second hour, as clocks change.

    0: nowhere, or so lately that the few writes since may still be late ones.
    """
    usual = pd.Series(late).rolling(_RUN, min_periods=_RUN).median().to_numpy()
    moved = np.flatnonzero(np.abs(usual) > _LOCKED_SPREAD * cycle)
    start = int(moved[-1]) + 1 if moved.size else 0
    return start if late.size - start > MIN_GAPS else 0


def delays(working: Floats, phase: float, cycle: float) -> Floats:
    """Return how long after its slot each write came; at most a quarter of a cycle before it."""
    early = _EARLY * cycle
    return (working - phase + early) % cycle - early


def _begin_slots(working: Floats, phase: float, cycle: float) -> Flags:
    """Return which writes are the first of their slot: a rerun in a served cycle is no delay."""
    slots = (working - phase + _EARLY * cycle) // cycle
    return np.append(True, slots[1:] > slots[:-1])


def last_delivery(working: Floats, cadence: Cadence) -> int:
    """Return the place of the newest write that serves a slot; of no schedule, the newest."""
    if cadence.cycle_seconds is None or cadence.phase is None:
        return working.size - 1
    begins = _begin_slots(working, cadence.phase, cadence.cycle_seconds)
    return int(np.flatnonzero(begins)[-1])


def gap_origin(working: Floats, cadence: Cadence) -> Floats:
    """Return where the write after each of these is measured from: its slot, or the write before.

    After a write that was later than any before, the schedule may be another: then a cycle later.
    So it is where limits are not learned after each write: one then holds for several.
    """
    if cadence.cycle_seconds is None or cadence.phase is None:
        return working
    cycle = cadence.cycle_seconds
    late = delays(working, cadence.phase, cycle)
    is_any = late > (cadence.largest or 0.0) if cycle >= FAST_SECONDS else late > 0.0
    return working - np.where(is_any, 0.0, late) + cycle


def _is_regular(gaps: Floats) -> bool:
    usual = float(np.median(gaps))
    return median_deviation(gaps, usual) <= _REGULAR_SPREAD * usual


def _alike(gaps: Floats, week: float, cadence_class: str) -> Cadence:
    """Return the profile of gaps that are much alike, or of a stream's."""
    usual = float(np.median(gaps))
    spread = max(median_deviation(gaps, usual), _LEAST_SPREAD * usual, 1.0)
    return Cadence(
        cadence_class=cadence_class,
        gaps=gaps.size,
        usual_gap=usual,
        spread=spread,
        level=usual,
        scale=spread,
        share=1.0,
        largest=float(gaps.max()),
        cycles_per_week=week / float(gaps.mean()),
        scores=tuple(((gaps - usual) / spread).tolist()) if gaps.size >= MIN_GAPS else (),
    )


def _irregular(gaps: Floats, week: float, cadence_class: str) -> Cadence:
    since = irregular(gaps)
    kept = gaps[since]
    mean, deviation = float(kept.mean()), max(gamma_deviation(kept), 1.0)
    return Cadence(
        cadence_class=cadence_class,
        gaps=kept.size,
        usual_gap=mean,
        spread=deviation,
        level=mean,
        scale=deviation,
        share=1.0,
        largest=float(kept.max()),
        cycles_per_week=week / mean,
        scores=tuple(((kept - mean) / deviation).tolist()) if kept.size >= MIN_GAPS else (),
        recurring=recurring_gap(gaps, int(since[0]), MISS_MEDIANS),
    )
