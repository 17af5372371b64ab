"""The bench measures what it says it measures; how fast is no test's business."""

import json
import subprocess
import sys

import msgspec

from collector.bench_event import halves
from collector.bench_load import Load, Result
from collector.events import parse
from collector.settings import Limits
from tests.collector.running import ROOT


def _send(collector, **load: object):
    load = {"port": collector.port, "connections": 4, "rate": None, "seconds": 30.0, **load}
    sent = subprocess.run(
        [sys.executable, "-m", "collector.bench_load"],
        cwd=ROOT,
        input=msgspec.json.encode(Load(**load)),
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return msgspec.json.decode(sent.stdout, type=Result)


def test_the_body_is_an_event_of_the_listener_s_size():
    """About 3.4 kB, and each with a runId of its own."""
    before, after = halves()
    raw = before + b"00000000002a" + after

    assert parse(raw, Limits()).kind == "run"
    assert json.loads(raw)["run"]["runId"].endswith("-00000000002a")
    assert 3_000 < len(raw) < 4_000


def test_what_the_senders_counted_is_what_was_stored(start):
    """Each counted ack is one new row: no repeat is passed off as work."""
    collector = start().ready()

    result = _send(collector, events=500, marks=[100, 500])

    assert (result.acked, result.rejected) == (500, 0)
    assert collector.rows("SELECT count(*) FROM event") == [(500,)]
    (began, ended), (late, last) = result.marked_seconds
    assert 0 < began < ended < late < last == result.seconds
    assert list(result.percentiles_ms) == sorted(result.percentiles_ms)


def test_a_rate_is_kept_and_waiting_counts(start):
    """Events are due at their time, not when the one before was answered."""
    collector = start().ready()

    result = _send(collector, rate=200.0, seconds=1.0, connections=1)

    assert result.acked == 200
    assert result.seconds > 0.99


def test_a_refused_event_is_counted_as_such(start):
    """A collector that refuses everything must not look fast."""
    collector = start(max_body_bytes=100).ready()

    result = _send(collector, events=1)

    assert (result.acked, result.rejected) == (0, 1)
