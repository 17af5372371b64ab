"""Benchmark of a small estate: it measures a real `lineward up`. Tests do not check its figures."""

from lab.bench import idle
from tests.suite.classes import interpreter_variables


def test_a_small_estate_is_measured_idle_and_with_events(monkeypatch):
    """Load 100 runs, then send two: each role takes time, and the second phase more datasets."""
    for name, value in interpreter_variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(idle, "_HISTORY", 300)

    figures = idle.run(events_a_second=2.0, settle=0.0, seconds=3.0)

    assert [each.phase for each in figures.phases] == ["idle", "live"]
    assert figures.datasets > 100
    assert figures.memory_mib > 200
    for phase in figures.phases:
        assert phase.cores >= phase.collector + phase.service > 0
