import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.collector.running import Collector
from tests.service.commandline import environ, lineward
from tests.service.ingest.ship.written import append, event, events
from tests.suite.waiting import until

Follow = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Return a collector that may be killed."""
    running = Collector(tmp_path / "data")
    yield running.ready()
    running.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder where the job writes."""
    folder = tmp_path / "openlineage"
    folder.mkdir()
    return folder


@pytest.fixture
def follow(tmp_path: Path, folder: Path) -> Iterator[Follow]:
    """Start `lineward ship` of the folder: `follow(url)`; its log is `tmp_path/ship.log`."""
    started: list[subprocess.Popen[bytes]] = []

    def start(url: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "ship.log").open("ab") as log:
            argv = [sys.executable, "-m", "service.cli.main", "ship", str(folder), "--url", url]
            secret = {"LINEWARD_SENDER_SECRET_FILE": str(tmp_path / "data" / "reader.secret")}
            started.append(subprocess.Popen(argv, env=environ(**secret), stdout=log, stderr=log))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait(30)


def _stored_bodies(collector: Collector) -> list[bytes]:
    return sorted(bytes(body) for (body,) in collector.rows("SELECT body FROM event"))


def _has_more(collector: Collector, than: int) -> bool:
    return len(_stored_bodies(collector)) > than


def test_every_event_arrives_once_through_kills_and_rotations(
    tmp_path: Path, folder: Path, collector: Collector, follow: Follow
):
    """Kill -9 of shipper and collector, in the middle of batches; files change under it."""
    file, written = folder / "events.jsonl", 0
    shipping = follow(collector.url)
    for turn in range(6):
        before = len(_stored_bodies(collector))
        for _ in range(10):
            append(file, events(written, written + 120))
            written += 120
        if turn % 2:
            file.rename(folder / f"events.jsonl.{turn}")
        until(partial(_has_more, collector, before))
        if turn == 3:
            collector.kill()
            collector = Collector(tmp_path / "data", port=collector.port)
        else:
            shipping.kill()
            shipping.wait(30)
            shipping = follow(collector.url)
    collector.ready()
    # One that only the last shipper can bring: it is up when this has arrived.
    append(file, events(written, written + 1))
    written += 1
    until(lambda: len(_stored_bodies(collector)) == written)
    shipping.send_signal(signal.SIGTERM)
    assert shipping.wait(30) == 0
    done = lineward("ship", str(folder), "--url", collector.url, "--once", "--json")

    assert json.loads(done.stdout)["taken"] == 0
    assert _stored_bodies(collector) == sorted(events(0, written))
    assert collector.rows("SELECT DISTINCT origin FROM event") == [("file",)]
    collector.kill()


def test_the_shipper_waits_for_the_collector_without_end(
    tmp_path: Path, folder: Path, collector: Collector, follow: Follow
):
    """Lose nothing, and report an error once, not each time."""
    collector.kill()
    append(folder / "events.jsonl", events(0, 3))
    follow(collector.url)
    log = tmp_path / "ship.log"
    until(lambda: "collector_not_reached" in log.read_text())
    again = Collector(tmp_path / "data", port=collector.port).ready()
    try:
        until(lambda: len(_stored_bodies(again)) == 3)
    finally:
        again.kill()

    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    (waiting,) = [line for line in lines if line["event"] == "collector_not_reached"]
    assert (waiting["url"], waiting["error"]) == (collector.url, "Connection refused")


def test_the_log_says_at_the_start_whether_the_token_is_right(tmp_path: Path, folder: Path):
    """Ask the collector before any event is written.

    Mutant: without `wait_for_collector`, the log is empty until a job writes.
    """
    right, shown, output = (tmp_path / name for name in ("right", "shown", "ship.log"))
    right.write_text("sesame")
    shown.write_text("simsim")
    guarded = Collector(tmp_path / "guarded", token_file=right).ready()
    argv = ["ship", str(folder), "--url", guarded.url, "--token-file", str(shown)]
    with output.open("wb") as log:
        shipping = subprocess.Popen(
            [sys.executable, "-m", "service.cli.main", *argv], env=environ(), stdout=log, stderr=log
        )
    try:
        until(lambda: "collector_not_reached" in output.read_text())
        assert "401" in output.read_text()
        assert "collector_reached" not in output.read_text()
        shown.write_text("sesame")
        until(lambda: "collector_reached" in output.read_text())
        assert _stored_bodies(guarded) == []
    finally:
        shipping.kill()
        shipping.wait(30)
        guarded.kill()


def test_a_wrong_token_rejects_no_event(tmp_path: Path, folder: Path):
    """Wait as in an outage, and read a replaced token."""
    right, shown = tmp_path / "right", tmp_path / "shown"
    right.write_text("sesame")
    shown.write_text("simsim")
    guarded = Collector(tmp_path / "guarded", token_file=right).ready()
    append(folder / "events.jsonl", events(0, 3))
    argv = ["ship", str(folder), "--url", guarded.url, "--token-file", str(shown), "--once"]
    with (tmp_path / "once.log").open("wb") as log:
        shipping = subprocess.Popen(
            [sys.executable, "-m", "service.cli.main", *argv], env=environ(), stdout=log, stderr=log
        )
    try:
        until(lambda: "401" in (tmp_path / "once.log").read_text())
        shown.write_text("sesame")
        assert shipping.wait(60) == 0
        assert _stored_bodies(guarded) == events(0, 3)
    finally:
        shipping.kill()
        shipping.wait(30)
        guarded.kill()


def test_an_invalid_event_is_stored_by_the_collector(folder: Path, collector: Collector):
    """Report it with its reason, file and line; the exit code is 6."""
    wide = event(1, padding=1_500_000)  # more than one event may be as sent, unless compressed
    file = folder / "events.jsonl"
    append(file, [event(0), b"starting up", b'{"a": 1}, {"b": 2}', b'{"eventTime": 7}', wide])

    done = lineward("ship", str(folder), "--url", collector.url, "--once", "--json")

    report = json.loads(done.stdout)
    assert done.returncode == 6
    assert (report["taken"], report["refused"], report["unfinished"]) == (1, 4, [])
    assert [one["position"] for one in report["refusals"]] == [2, 3, 4, 5]
    assert "longer than 2048 bytes" in report["refusals"][3]["reason"]
    kept = [body for (body,) in collector.rows("SELECT body FROM rejected ORDER BY body_bytes")]
    assert [bytes(body)[:100] for body in kept] == [
        b"starting up",
        b'{"eventTime": 7}',
        b'{"a": 1}, {"b": 2}',
        wide[:100],
    ]


def test_only_one_shipper_follows_a_folder(folder: Path, collector: Collector, follow: Follow):
    """Exit with 7, as two would overwrite each other's positions."""
    append(folder / "events.jsonl", events(0, 1))
    follow(collector.url)
    until(lambda: _stored_bodies(collector))

    second = lineward("ship", str(folder), "--url", collector.url, "--once")

    assert second.returncode == 7
    assert second.stderr == f"lineward: `lineward ship` already runs on {folder}\n"


def test_a_path_that_is_no_folder_is_named(tmp_path: Path):
    """Exit code 2, before anything waits for a collector."""
    (tmp_path / "file").touch()
    missing, file = (lineward("ship", str(tmp_path / name), "--once") for name in ("none", "file"))

    assert (missing.returncode, file.returncode) == (2, 2)
    assert f"{os.sep}none does not exist: create it" in missing.stderr
    assert f"{os.sep}file is not a folder: create it" in file.stderr


@pytest.mark.parametrize("url", ["collector:8700", "http://c:x", "http://c:8700/api/v1/lineage"])
def test_an_address_that_no_event_can_reach_is_rejected(folder: Path, url: str):
    """Exit code 2; before, `ship` tried such an address without end."""
    done = lineward("ship", str(folder), "--url", url, "--once")

    assert done.returncode == 2
    assert (
        f"--url: expected http://HOST:PORT without a path (/api/v1/lineage is added), got '{url}'"
        in (done.stderr)
    )


def test_a_state_that_cannot_be_stored_is_named(tmp_path: Path, folder: Path):
    """Stop before anything is sent, as it would be sent again and again."""
    (tmp_path / "file").touch()

    done = lineward("ship", str(folder), "--once", "--state", str(tmp_path / "file" / "state"))

    assert done.returncode == 2
    assert "name another folder with --state" in done.stderr
