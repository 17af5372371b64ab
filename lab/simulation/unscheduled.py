"""Datasets that nobody schedules: bursts of writes whenever something happens."""

import numpy as np

from lab.simulation.gaps import CHANGE, SILENCE, USUAL, Gaps, Simulated, flatten, silence
from lab.simulation.scheduled import ALPHA_PER_WEEK, CHANGE_DAYS, simulate_outages
from lab.simulation.wall_clock import DAY_SECONDS, DAYS, WEEK_SECONDS, utc_micros
from lineage.graph.adjacency import Flags
from slis.cadence.working_week import Floats, Micros

_CHANGING = 0.1
# Who knows the shape and both means, and that one dataset in 20 doubles its mean once in half a
# year, holds that for likelier than chance after 10 pauses of shape 3 and 16 of shape 2 on average.
_UNSURE_GAPS = 16
_HOUR = 3_600.0
_WITHIN_SECONDS = 45.0
_MOST_WRITES = 8
_BISECTIONS = 60


def bursty(chance: np.random.Generator, count: int) -> Simulated:
    """Return bursts of 3 to 8 writes about a minute apart; hours to days lie between the bursts.

    The time between bursts is gamma distributed, of shape 2 or 3 and a mean of each dataset's own.
    In one of ten datasets it halves or doubles at some time.
    """
    mean = np.exp(chance.uniform(np.log(3 * _HOUR), np.log(10 * _HOUR), count))
    shape = chance.integers(2, 4, count)
    factor = np.where(chance.random(count) < 1 / 2, 0.5, 2.0)
    factor = np.where(chance.random(count) < _CHANGING, factor, 1.0)
    changed = chance.choice(CHANGE_DAYS, count) * DAY_SECONDS
    pauses = _pauses(chance, mean, shape, factor, changed)
    within, is_written = _within(chance, pauses.shape)
    ends = np.cumsum(pauses + within[..., -1], axis=1)
    wall = (ends - within[..., -1])[..., None] + within
    present = is_written & (wall < DAYS * DAY_SECONDS)
    row = flatten(present)
    at, after = utc_micros(wall[present]), (wall > changed[:, None, None])[present]
    now = mean[row] * np.where(after, factor[row], 1.0)
    is_slow = after & (factor[row] > 1)
    limit = _rare_pause(shape[row], now)
    return _judged(chance, row, at, limit, is_slow, mean)


def _pauses(
    chance: np.random.Generator, mean: Floats, shape: Micros, factor: Floats, changed: Floats
) -> Floats:
    """Return seconds before each burst, of more bursts than the days have room for."""
    most = int(2.5 * DAYS * DAY_SECONDS / mean.min())
    pauses = chance.gamma(shape[:, None], (mean / shape)[:, None], (mean.size, most))
    is_after = np.cumsum(pauses, axis=1) > changed[:, None]
    return np.where(is_after, pauses * factor[:, None], pauses)


def _within(chance: np.random.Generator, shape: tuple[int, ...]) -> tuple[Floats, Flags]:
    """Return seconds from a burst's first write to each other one, and which of them exist."""
    steps = chance.exponential(_WITHIN_SECONDS, (*shape, _MOST_WRITES)).astype(np.float32) + 1.0
    size = chance.integers(3, _MOST_WRITES + 1, shape)
    is_written = np.arange(_MOST_WRITES) < size[..., None]
    steps[..., 0] = 0
    return np.cumsum(np.where(is_written, steps, 0.0), axis=-1), is_written


def _rare_pause(shape: Micros, mean: Floats) -> Floats:
    """Return the pause that the bursts of 1,000 weeks exceed once, in seconds."""
    rarity = ALPHA_PER_WEEK * mean / WEEK_SECONDS
    low, high = np.zeros_like(mean), 60 * mean
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        x = shape * middle / mean
        # An Erlang distribution's, of shape 2 or 3.
        exceeded = np.exp(-x) * (1 + x + np.where(shape > 2, x**2 / 2, 0.0))  # noqa: PLR2004
        low, high = (
            np.where(exceeded > rarity, middle, low),
            np.where(exceeded > rarity, high, middle),
        )
    return high


def _judged(  # noqa: PLR0913, PLR0917 - one simulation's arrays
    chance: np.random.Generator,
    row: Micros,
    at: Micros,
    limit: Floats,
    is_slow: Flags,
    mean: Floats,
) -> Simulated:
    begin, end = simulate_outages(chance, mean.size, np.clip(mean, 12 * _HOUR, None))
    kept, follows = silence(row, at, begin, end)
    rows, times, limits, slow = row[kept], at[kept], limit[kept], is_slow[kept]
    is_pause = np.append(np.diff(times) > 0.5 * _HOUR * 1e6, True)
    kind = np.where(follows, SILENCE, np.where(_first_pauses(rows, slow, is_pause), CHANGE, USUAL))
    keep = np.append(rows[1:] == rows[:-1], False)
    gaps = Gaps(
        dataset=rows[keep],
        started_at=times[keep],
        ended_at=np.append(times[1:], 0)[keep],
        oracle_due_at=(times + (limits * 1e6).astype(np.int64))[keep],
        kind=kind[keep],
    )
    return Simulated("bursty", rows, times, gaps)


def _first_pauses(rows: Micros, slow: Flags, is_pause: Flags) -> Flags:
    """Return the pauses around a rate that fell: the last before, and the first after."""
    places = np.flatnonzero(is_pause)
    begins = np.append(slow[places][1:] & ~slow[places][:-1], False)
    begins &= np.append(rows[places][1:] == rows[places][:-1], False)
    unsure = begins.copy()
    for later in range(1, _UNSURE_GAPS + 1):
        unsure[later:] |= begins[:-later]
    found = np.zeros(rows.size, dtype=np.bool_)
    found[places[unsure]] = True
    return found
