"""Writes that are deliveries of their own, and recurring gaps, as a person would count them."""

import numpy as np

from lineage.graph.adjacency import Flags, Keys
from lineage.process.clock import DAY_MICROS, HOUR_MICROS
from slis.cadence.training import MIN_GAPS
from slis.cadence.working_week import Floats, Micros

# A write so soon after another is a reload of the same day, where days have one write as a rule.
_RELOAD = 6 * HOUR_MICROS
_DAILY = 20 * HOUR_MICROS
# A root run that writes for this long is a long-running writer: each hour is a delivery.
LONG_RUN_MICROS = 6 * HOUR_MICROS
_RECENT_DAYS = 30
_RECENT = 15
# A day with more writes belongs to a time in which the dataset was written many times a day.
_MOST_RELOADS = 8
# A gap that came so often in half a year is no outage that a person should be notified of.
RECURRENCES = 5
_A_DAY_SECONDS = 20 * 3_600.0


def end_root_runs(at: Micros, root_run: Keys) -> Flags:
    """Return which writes are deliveries: the last of each root run, or all of long-running ones.

    A nightly application that writes a table for three hours is one delivery, at its end. A Thrift
    server or a `foreachBatch` stream is one root run for months, and all of its writes count.

    Args:
        at: microseconds, in order.
        root_run: a number for each root run; 0 where it is not known.
    """
    runs, places = np.unique(root_run, return_inverse=True)
    first, last = np.zeros(places.size, np.int64), np.zeros(places.size, np.int64)
    last[places], first[places[::-1]] = at, at[::-1]
    is_known = runs != 0
    first, last = first[: runs.size], last[: runs.size]
    if _are_mostly_long(first[is_known], last[is_known]):
        return np.ones(at.size, dtype=np.bool_)
    ends: Flags = (root_run == 0) | (at == last[places])
    return ends


def _are_mostly_long(first: Micros, last: Micros) -> bool:
    """Return whether long-running writers wrote on most of the recent days.

    One night that took longer, or less long, must not change the cadence of a nightly application.

    Args:
        first: when each root run wrote first.
        last: likewise.
    """
    if not last.size:
        return False
    spans = last - first
    days = np.where(last > last.max() - _RECENT_DAYS * DAY_MICROS, np.maximum(spans, DAY_MICROS), 0)
    is_long = spans >= LONG_RUN_MICROS
    return bool(2 * days[is_long].sum() > days.sum())


def begin_slots(meant_for: Floats) -> Flags:
    """Return which writes are the first for the time that they are meant for.

    Reruns of a time are no deliveries where times have one write as a rule. An hourly job that
    names the day of its partition has many writes for one time, and each of them counts.

    Args:
        meant_for: nominal time, or date of the partition, of each write; NaN where there is none.
    """
    _, first, sizes = np.unique(meant_for, return_index=True, return_counts=True, equal_nan=False)
    recent = np.argsort(first)[-_RECENT:]
    if first.size <= MIN_GAPS or np.median(sizes[recent]) > 1:
        return np.ones(meant_for.size, dtype=np.bool_)
    begins = np.zeros(meant_for.size, dtype=np.bool_)
    begins[first] = True
    return begins


def begin_deliveries(at: Micros) -> Flags:
    """Return which writes begin a delivery: reloads on one day of a daily or slower feed do not.

    Args:
        at: microseconds, in order.
    """
    begins = np.append(True, np.diff(at) >= _RELOAD)
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, at.size))
    recent = at[starts[-_RECENT - 1 :]]
    if recent.size <= MIN_GAPS or np.median(np.diff(recent)) < _DAILY:
        return np.ones(at.size, dtype=np.bool_)
    if np.median(sizes[-_RECENT:]) > 1:
        return np.ones(at.size, dtype=np.bool_)
    often = np.flatnonzero(sizes > _MOST_RELOADS)
    if often.size:
        begins[: starts[often[-1]] + sizes[often[-1]]] = True
    return begins


def spans_of(begins: Flags, flags: Flags, *, is_any: bool) -> Flags:
    """Return a flag for the gap before each delivery, from those of the gaps before each write.

    Args:
        begins: which writes are deliveries; the gap before one spans the writes that are none.
        flags: of the gap before each write.
        is_any: whether one flag is enough; else all have to be set.
    """
    starts = np.flatnonzero(begins)
    bounds = np.append(0, starts[:-1] + 1)
    operator = np.logical_or if is_any else np.logical_and
    return operator.reduceat(flags[: starts[-1] + 1], bounds)


def recurring_gap(gaps: Floats, settled: int, natural: float) -> float | None:
    """Return the fifth longest of the gaps that say how long the cadence of today may pause.

    These are all of today's cadence. Of the cadence before, only gaps of a day or more that were
    long for it recur: holidays do. Its usual gaps do not, and a retry was late by its own cadence.

    Args:
        gaps: that may teach, misses included, in order, in seconds.
        settled: how many of them came before the last change of cadence.
        natural: medians of the gaps before that change within which a gap was not long.
    """
    before, since = gaps[:settled], gaps[settled:]
    if settled:
        before = before[before > max(natural * float(np.median(before)), _A_DAY_SECONDS)]
    known = np.concatenate([before, since])
    if known.size < RECURRENCES:
        return None
    return float(np.partition(known, -RECURRENCES)[-RECURRENCES])
