"""Figures of the benchmark, which count what they claim to count; no test is about speed."""

import subprocess
import sys

import msgspec
import pytest

from lab.bench.ingest import bare_sqlite, ingest
from lab.bench.ingest.collector_process import running_collector
from lab.bench.ingest.senders import Load, Result
from tests.collector.running import ROOT, Collector


@pytest.fixture
def collector(request, tmp_path):
    """Start a collector with the settings that the test asks for."""
    running = Collector(tmp_path / "data", **getattr(request, "param", {}))
    yield running.ready()
    running.kill()


def _send(collector, **load: object):
    load = {"port": collector.port, "connections": 4, "rate": None, "seconds": 30.0, **load}
    sent = subprocess.run(
        [sys.executable, "-m", "lab.bench.ingest.senders"],
        cwd=ROOT,
        input=msgspec.json.encode(Load(**load)),
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return msgspec.json.decode(sent.stdout, type=Result)


def test_the_senders_count_what_is_stored(collector):
    """Count one new row for each acknowledged event of the mix, and no repeat."""
    result = _send(collector, events=500, marks=[100, 500])

    assert (result.acked, result.rejected) == (500, 0)
    assert collector.rows("SELECT count(*) FROM event") == [(500,)]
    (began, ended), (late, last) = result.marked_seconds
    assert 0 < began < ended < late < last == result.seconds
    assert list(result.percentiles_ms) == sorted(result.percentiles_ms)


def test_a_rate_is_kept_and_waiting_counts(collector):
    """Send events at their due time, and not when the one before was answered."""
    result = _send(collector, rate=200.0, seconds=1.0, connections=1)

    assert result.acked == 200
    assert result.seconds > 0.99


@pytest.mark.parametrize("collector", [{"max_body_bytes": 100}], indirect=True)
def test_a_rejected_event_is_counted_as_such(collector):
    """Count rejections apart, so that a collector that rejects everything does not look fast."""
    result = _send(collector, events=1)

    assert (result.acked, result.rejected) == (0, 1)


def test_a_load_has_its_own_bodies(collector):
    """Send events of 21 kB where they are asked for."""
    _send(collector, events=2, bodies="21 kB")

    assert collector.rows("SELECT count(*), min(length(body)) / 1000 FROM event") == [(2, 21)]


@pytest.fixture
def _short(monkeypatch):
    """Warm up, and measure the limit, for a moment: tests do not check the speed."""
    monkeypatch.setattr(ingest, "_WARM_UP_SECONDS", 0.3)
    monkeypatch.setattr(ingest, "_BARE_SECONDS", 0.3)


@pytest.mark.usefixtures("_short")
def test_figures_are_of_one_run():
    """Measure the collector and, of the same bodies, its limit."""
    figures = ingest.measure("21 kB", seconds=0.5, connections=2, rate=None)

    assert figures.events > 0
    assert figures.of_bare == figures.events_per_second / figures.bare_per_second
    assert figures.cpu_us > 0
    assert figures.budget.startswith(f">= {figures.bare_per_second / 2:,.0f}/s, p99 < 50 ms")


@pytest.mark.usefixtures("_short")
def test_a_given_rate_is_not_compared_with_the_limit():
    """Judge such a load by its rate and its latency alone."""
    figures = ingest.measure("1 kB", seconds=0.5, connections=2, rate=50.0)

    assert (figures.events, figures.of_bare, figures.bare_per_second) == (25, None, None)
    assert figures.budget == ">= 50/s, p99 < 25 ms, < 200 MiB"


def test_the_limit_stores_what_it_counts(monkeypatch):
    """Store each event once, whatever the size of a group."""
    stored = []
    opened = bare_sqlite.open_spool

    class Watched:
        def __init__(self, connection) -> None:
            self._connection = connection

        def execute(self, sql, rows):
            stored.append(self._connection.execute(sql, rows).rowcount)

        def close(self):
            stored.append(self._connection.execute("SELECT count(*) FROM event").fetchone()[0])

    monkeypatch.setattr(bare_sqlite, "open_spool", lambda *given: Watched(opened(*given)))

    assert bare_sqlite.events_per_second("mix", group=7, seconds=0.2) > 0
    *groups, count = stored
    assert set(groups) == {7}
    assert count == sum(groups)


def test_the_collector_under_measurement_has_the_defaults(monkeypatch):
    """Ignore settings of the shell that starts the benchmark."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_MAX_BODY_BYTES", "10")

    with running_collector() as collector:
        result = ingest.send(
            Load(port=collector.port, connections=1, rate=None, seconds=30, events=3)
        )
        assert collector.memory_mib() > 10

    assert result.acked == 3
