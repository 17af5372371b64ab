"""Streams: a commit every few seconds, until one stalls or is restarted."""

import math

import numpy as np

from lab.simulation.gaps import SILENCE, USUAL, Gaps, Simulated
from lab.simulation.scheduled import ALPHA_PER_WEEK
from lab.simulation.wall_clock import DAY_SECONDS, DAYS, WEEK_SECONDS, utc_micros
from slis.cadence.working_week import Floats, Micros

_HOUR = 3_600.0
_OUTAGES = 3
_BISECTIONS = 60


def streaming(chance: np.random.Generator, count: int) -> Simulated:
    """Simulate commits with stalls of 13 to 14 minutes, lognormal, one to four times a week.

    A catalog keeps the last commit of each hour as a write, and the very last one as the newest.
    """
    weekly = chance.uniform(1.0, 4.0, count)
    usual = 60.0 * chance.uniform(13.0, 14.0, count)
    spread = chance.uniform(0.42, 0.46, count)
    most = int(DAYS / 7 * weekly.max() * 2)
    apart = chance.exponential((WEEK_SECONDS / weekly)[:, None], (count, most)) + _HOUR
    length = usual[:, None] * np.exp(spread[:, None] * chance.standard_normal((count, most)))
    begin = np.cumsum(apart, axis=1)
    kind = np.full(begin.shape, USUAL)
    _put_outages(chance, begin, length, kind)
    inside = begin < (DAYS - 1) * DAY_SECONDS
    limit = _rare_stall(weekly, usual, spread)
    rows = np.nonzero(inside)[0].astype(np.int64)
    started = utc_micros(begin[inside])
    gaps = Gaps(
        dataset=rows,
        started_at=started,
        ended_at=started + (length[inside] * 1e6).astype(np.int64),
        oracle_due_at=started + (limit[rows] * 1e6).astype(np.int64),
        kind=kind[inside].astype(np.int64),
    )
    dataset, written_at = _hourly(gaps, count)
    return Simulated("streaming", dataset, written_at, gaps, is_streaming=True)


def _put_outages(chance: np.random.Generator, begin: Floats, length: Floats, kind: Micros) -> None:
    """Let three of the stalls of each stream, after the first month, never end by themselves."""
    last = (begin < (DAYS - 3) * DAY_SECONDS).sum(axis=1)
    first = (begin < 30 * DAY_SECONDS).sum(axis=1)
    for stream, (low, high) in enumerate(zip(first, last, strict=True)):
        for place in chance.choice(np.arange(low, high), min(_OUTAGES, high - low), replace=False):
            hours = chance.uniform(3.0, 12.0)
            length[stream, place], kind[stream, place] = hours * _HOUR, SILENCE
            begin[stream, place + 1 :] += hours * _HOUR


def _rare_stall(weekly: Floats, usual: Floats, spread: Floats) -> Floats:
    """Return the stall that 1,000 weeks exceed once."""
    low, high = np.zeros_like(usual), np.full_like(usual, DAY_SECONDS)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        score = np.log(np.maximum(middle, 1e-9) / usual) / spread
        rarity = np.array([math.erfc(z / math.sqrt(2)) / 2 for z in score])
        is_beyond = rarity * weekly > ALPHA_PER_WEEK
        low, high = np.where(is_beyond, middle, low), np.where(is_beyond, high, middle)
    return high


def _hourly(gaps: Gaps, count: int) -> tuple[Micros, Micros]:
    """Return the last commit of each hour that has one."""
    span = int(_HOUR * 1e6)
    hours = utc_micros(np.zeros(1)) + np.arange(1, DAYS * 24) * span
    dataset = np.repeat(np.arange(count), hours.size)
    at = np.tile(hours - 1_000_000, count)
    # A stall that is under way at the hour's end: the last commit came before it.
    for stream in range(count):
        mine = gaps.dataset == stream
        begun, ended = gaps.started_at[mine], gaps.ended_at[mine]
        place = np.searchsorted(begun, hours, side="right") - 1
        stalled = (place >= 0) & (ended[place] > hours)
        rows = slice(stream * hours.size, (stream + 1) * hours.size)
        at[rows] = np.where(stalled, begun[place], at[rows])
        lost = stalled & (begun[place] < hours - span)
        at[rows][lost] = 0
    there = at > 0
    return dataset[there].astype(np.int64), at[there]
