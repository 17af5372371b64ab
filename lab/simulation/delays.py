"""Delay of a scheduled job's write, as a distribution that is sampled and known exactly."""

import math

import msgspec
import numpy as np

from slis.cadence.working_week import Floats

_MOST_RETRIES = 3
# Nodes and weights of a standard normal: a stalled run is a product of two distributions.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_BISECTIONS = 60


class Delays(msgspec.Struct, frozen=True):
    """Seconds from when a cycle is scheduled to its write; arrays of shape (datasets,).

    A run takes `usual` x lognormal(`spread`). Each of up to three retries, with `retry_rate`, adds
    `retry_seconds`. With `stall_rate` the run takes Pareto(`stall_shape`) times as long: the heavy
    tail. Past `most` it is killed, and what it has is written.
    """

    usual: Floats
    spread: Floats
    retry_rate: Floats
    retry_seconds: Floats
    stall_rate: Floats
    stall_shape: Floats
    most: Floats

    def drawn(self, chance: np.random.Generator, cycles: int) -> Floats:
        """Draw one delay for each cycle: shape (datasets, cycles)."""
        shape = (self.usual.size, cycles)
        run = self.usual[:, None] * np.exp(self.spread[:, None] * chance.standard_normal(shape))
        stalled = chance.random(shape) < self.stall_rate[:, None]
        longer = (1 - chance.random(shape)) ** (-1 / self.stall_shape[:, None])
        retries = self._retries(chance.random(shape))
        delay = run * np.where(stalled, longer, 1.0) + retries * self.retry_seconds[:, None]
        drawn: Floats = np.minimum(delay, self.most[:, None])
        return drawn

    def _retries(self, uniform: Floats) -> Floats:
        """Draw the number of retries: k or more with `retry_rate` to the power of k."""
        counts = (uniform < self.retry_rate[:, None] ** k for k in range(1, _MOST_RETRIES + 1))
        total: Floats = np.sum([count.astype(float) for count in counts], axis=0)
        return total

    def exceeded(self, seconds: Floats) -> Floats:
        """Return the probability of a delay beyond `seconds`, for each dataset."""
        total = np.zeros_like(seconds)
        for tries in range(_MOST_RETRIES + 1):
            ends = 0.0 if tries == _MOST_RETRIES else self.retry_rate ** (tries + 1)
            total += (self.retry_rate**tries - ends) * self._run_exceeds(
                np.maximum(seconds - tries * self.retry_seconds, 1e-9)
            )
        exceeded: Floats = np.where(seconds < self.most, total, 0.0)
        return exceeded

    def _run_exceeds(self, seconds: Floats) -> Floats:
        times = (seconds / self.usual)[:, None] * np.exp(-self.spread[:, None] * _NODES)
        stalled = np.minimum(1.0, times ** -self.stall_shape[:, None])
        heavy = (stalled * _WEIGHTS).sum(axis=1) / _WEIGHTS.sum()
        score = np.log(seconds / self.usual) / self.spread
        usual = np.array([math.erfc(z / math.sqrt(2)) / 2 for z in score])
        exceeds: Floats = (1 - self.stall_rate) * usual + self.stall_rate * heavy
        return exceeds

    def quantile(self, rarity: Floats) -> Floats:
        """Return the delay that is exceeded with probability `rarity`."""
        low, high = np.zeros_like(self.most), self.most.copy()
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_beyond = self.exceeded(middle) > rarity
            low, high = np.where(is_beyond, middle, low), np.where(is_beyond, high, middle)
        return high
