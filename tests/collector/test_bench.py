"""Figures of the benchmark, which count what they claim to count; no test is about speed."""

import json
import subprocess
import sys

import msgspec

from collector.bench_load import Load, Result, halves
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
    """Build events of about 3.4 kB, each with its own runId."""
    before, after = halves()
    raw = before + b"00000000002a" + after

    assert parse(raw, Limits()).kind == "run"
    assert json.loads(raw)["run"]["runId"].endswith("-00000000002a")
    assert 3_000 < len(raw) < 4_000


def test_the_senders_count_what_is_stored(start):
    """Count one new row for each acknowledged event, and no repeat."""
    collector = start().ready()

    result = _send(collector, events=500, marks=[100, 500])

    assert (result.acked, result.rejected) == (500, 0)
    assert collector.rows("SELECT count(*) FROM event") == [(500,)]
    (began, ended), (late, last) = result.marked_seconds
    assert 0 < began < ended < late < last == result.seconds
    assert list(result.percentiles_ms) == sorted(result.percentiles_ms)


def test_a_rate_is_kept_and_waiting_counts(start):
    """Send events at their due time, and not when the one before was answered."""
    collector = start().ready()

    result = _send(collector, rate=200.0, seconds=1.0, connections=1)

    assert result.acked == 200
    assert result.seconds > 0.99


def test_a_rejected_event_is_counted_as_such(start):
    """Count rejections apart, so that a collector that rejects everything does not look fast."""
    collector = start(max_body_bytes=100).ready()

    result = _send(collector, events=1)

    assert (result.acked, result.rejected) == (0, 1)
