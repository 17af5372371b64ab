"""Age of the graph in memory, and the threads that read it."""

import subprocess
import sys
import threading

import pytest
from structlog.testing import capture_logs

from lineage.catalog.engine import catalog_url
from lineage.graph.cache import graph_cache
from lineage.graph.cache.graph_cache import LineageCache, pause_after
from lineage.graph.cache.reading import read_snapshot
from tests.lineage.graph.cache.test_snapshot import add


class ManualClock:
    """Clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.at


@pytest.fixture
def clock() -> ManualClock:
    """Return the clock of the cache."""
    return ManualClock()


def url_of(catalog):
    """Return the URL of the catalog, as the service gets it."""
    return catalog.url.render_as_string(hide_password=False)


def open_cache(catalog, clock):
    """Return the cached graph of this catalog, after one read."""
    live = LineageCache(url_of(catalog), clock)
    live.current()
    live.wait()
    return live


def ends(snapshot):
    """Return the edges out of 1."""
    return [end for _, end in snapshot.walked("downstream", [1], 1, 9).ends()]


def test_the_second_query_is_the_first_with_a_graph(embedded, clock):
    """Return no graph to the first query, which does not wait for the read."""
    add(embedded, (1, 2, 1))
    live = LineageCache(url_of(embedded), clock)

    assert live.current() is None
    live.wait()

    assert ends(live.current()) == [2]


def test_a_used_graph_is_a_second_behind(embedded, clock):
    """Answer with the change after the next read."""
    live = open_cache(embedded, clock)
    add(embedded, (1, 2, 1))

    clock.at += 0.9
    assert ends(live.current()) == []
    live.wait()
    assert ends(live.current()) == []
    clock.at += 0.1
    live.current()
    live.wait()

    assert ends(live.current()) == [2]


@pytest.mark.parametrize(
    ("took", "then"), [(0.0, 1.0), (0.2, 1.0), (0.4, 2.0), (1.0, 3.0), (2.0, 2.0), (9.0, 1.0)]
)
def test_a_slow_read_is_repeated_less_often(took, then):
    """Read for a fifth of the time at most; after four seconds read once more."""
    assert pause_after(took) == pytest.approx(then)


def test_a_pause_follows_a_long_read(embedded, clock, monkeypatch):
    """Count the pause from the begin of the read."""

    def slow(reader, before):
        clock.at += 0.5
        return read_snapshot(reader, before)

    monkeypatch.setattr(graph_cache, "read_snapshot", slow)
    live = open_cache(embedded, clock)
    add(embedded, (1, 2, 1))

    clock.at += 1.9
    live.current()
    live.wait()
    assert ends(live.current()) == []
    clock.at += 0.1
    live.current()
    live.wait()

    assert ends(live.current()) == [2]


def test_a_graph_expires_after_five_seconds(embedded, clock):
    """Stop reading while it is not used, or cannot be read."""
    live = open_cache(embedded, clock)

    clock.at += 5.0
    assert live.current() is not None
    live.wait()
    clock.at += 5.1
    assert live.current() is None


@pytest.mark.parametrize(("after", "is_held"), [(5.0, True), (5.1, False)])
def test_the_age_of_a_response_counts_from_the_begin_of_its_read(
    embedded, clock, monkeypatch, after, is_held
):
    """Read again what changed during a read of three seconds."""
    began = clock.at

    def slow(reader, before):
        clock.at += 3.0
        return read_snapshot(reader, before)

    with monkeypatch.context() as loaded:
        loaded.setattr(graph_cache, "read_snapshot", slow)
        live = open_cache(embedded, clock)

    clock.at = began + after
    assert (live.current() is not None) == is_held
    live.wait()


def test_a_catalog_that_is_away_is_tried_once_a_second(tmp_path, clock):
    """Log each failure; a query of the catalog itself shows the reason."""
    live = LineageCache(catalog_url(tmp_path), clock)
    with capture_logs() as logged:
        for _ in range(3):
            assert live.current() is None
            live.wait()
        clock.at += 1.0
        live.current()
        live.wait()

    events = [one["event"] for one in logged if one["log_level"] == "warning"]
    assert events == ["lineage_not_read", "lineage_not_read"]


def test_a_read_without_a_free_thread_is_tried_again(embedded, clock, monkeypatch):
    """Use the catalog for that query; a second later it is read."""
    live = LineageCache(url_of(embedded), clock)
    with monkeypatch.context() as limited, capture_logs() as logged:
        limited.setattr(threading.Thread, "start", _fail_to_start)
        assert live.current() is None
    clock.at += 1.0
    live.current()
    live.wait()

    assert live.current() is not None
    assert [one["event"] for one in logged] == ["lineage_not_read"]


def _fail_to_start(_):
    raise RuntimeError


def test_reading_leaves_the_writer_its_wal(embedded, tmp_path, clock):
    """Keep the WAL: a second SQLite library in the process would delete it, with commits."""
    open_cache(embedded, clock)

    add(embedded, (1, 2, 1))

    assert _count_in_another_process(tmp_path / "catalog.db") == "1"


def _count_in_another_process(file):
    counting = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\n"
    counting += "print(c.execute('SELECT COUNT(*) FROM edge').fetchone()[0])"
    answer = subprocess.run(
        [sys.executable, "-c", counting, str(file)], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()
