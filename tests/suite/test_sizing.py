"""Arithmetic of docs/scale.md."""

import re
from pathlib import Path

import pytest

from lab.bench.pipeline import BacklogCost
from tests.bench.sizing import EVENTS_A_DAY, PEAK, needs, steady_cores

_STEADY_ROW = re.compile(r"(?m)^\| 10[⁶⁷⁸⁹] \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$")

_COST = BacklogCost(
    events=1_000,
    seconds=1.0,
    events_per_second=1_000.0,
    last_tenth_events_per_second=1_000.0,
    cpu_microseconds=86.4,
    merge_microseconds=43.2,
    server_cpu_microseconds=43.2,
    catalog_bytes=1_117.0,
    wal_bytes=2_000.0,
)


def test_documented_cores_at_a_steady_rate_are_computed():
    """Compute the first table of "What a rate of events needs" from its own figures.

    Mutant: without the fixed part of a batch, 10^6 events a day need a hundredth of it.
    """
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text("utf-8")
    found = _STEADY_ROW.findall(page)

    expected = []
    for events in EVENTS_A_DAY:
        rates = [events / 86_400, PEAK * events / 86_400]
        pipeline = [steady_cores(one, at_measured_rate=0.31, microseconds=58) for one in rates]
        server = [steady_cores(one, at_measured_rate=0.25, microseconds=40) for one in rates]
        shown = (", ".join(f"{one:.2g}" for one in cores) for cores in (pipeline, server))
        expected.append((", ".join(f"{one:,.0f}" for one in rates), *shown))
    assert found == expected


def test_a_rate_needs_what_its_events_cost():
    """Take 10^9 events a day, of 86.4 µs each: a core a second, and five at the peak."""
    need = list(needs(_COST, write_days=100))[-1]

    assert need.pipeline_cores == pytest.approx(1.0)
    assert (need.turn, need.peak_turn) == pytest.approx((0.5, 2.5))
    assert need.peak_postgres_cores == pytest.approx(2.5)
    assert need.catalog_gb_a_day == pytest.approx(1_000)
    assert need.catalog_gb == pytest.approx(100_000 + 819)
    assert need.wal_mb_per_second == pytest.approx(115.7, abs=0.1)
