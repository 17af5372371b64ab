import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.demo.spark import ivy_conf
from tests.collector.running import Collector
from tests.service.commandline import lineward
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Start a collector that tests may stop."""
    running = Collector(tmp_path / "data")
    yield running.ready()
    running.kill()


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Write a dozen folders, whose list exceeds the 100 characters that Spark keeps by itself."""
    lake = tmp_path / "lake"
    for number in range(12):
        folder = lake / f"pages_of_the_section_of_number_{number:02}"
        folder.mkdir(parents=True)
        (folder / "pages.txt").write_text("/a\n")
    return lake


def test_the_file_has_the_events_of_http_and_the_lost_ones(
    tmp_path: Path, collector: Collector, lake: Path, submit
):
    """Write lost events to the file with the printed settings; `ship` sends only the rest."""
    folder = tmp_path / "openlineage"
    (folder / "spark-events").mkdir(parents=True)
    options = ("--collector-url", collector.url, "--folder", str(folder), "--namespace", "web")
    conf = json.loads(
        lineward("render", "spark-conf", *options, "--name", "events", "--json").stdout
    )
    # Plain text, so that this test can read it.
    job = submit("pages_by_turn", lake, conf | ivy_conf() | {"spark.eventLog.compress": "false"})
    events = folder / "events.jsonl"

    until(lambda: _count_completed(events, "all_pages"))
    until(lambda: _read_stored(collector) == _lines(events))
    received = _lines(events)
    collector.stop()
    (lake / "again").touch()

    assert job.wait(120) == 0, (lake / "pages_by_turn.log").read_text()[-3000:]
    assert _count_completed(events, "all_pages_again")
    assert _lines(events) > received
    assert _read_stored(collector) == received
    again = Collector(tmp_path / "data", log=tmp_path / "again.log").ready()
    secret = ("--secret-file", str(again.secret_file))
    shipped = lineward("ship", str(folder), "--url", again.url, "--once", "--json", *secret)
    again.stop()
    assert json.loads(shipped.stdout)["taken"] == len(_lines(events))
    assert _read_stored(again) == _lines(events)
    assert again.rows("SELECT origin, count(*) FROM event GROUP BY 1 ORDER BY 1 DESC") == [
        ("http", len(received)),
        ("file", len(_lines(events) - received)),
    ]
    assert [name for name in _scan_locations(folder / "spark-events") if "..." in name] == []


def _lines(file: Path) -> set[bytes]:
    """Return the complete lines."""
    return set(file.read_bytes().split(b"\n")[:-1]) if file.exists() else set()


def _read_stored(collector: Collector) -> set[bytes]:
    return {bytes(body) for (body,) in collector.rows("SELECT body FROM event")}


def _count_completed(events: Path, output: str) -> bool:
    ends = (json.loads(line) for line in _lines(events) if b'"COMPLETE"' in line)
    return any(named["name"].endswith(f"/{output}") for e in ends for named in e["outputs"])


def _scan_locations(logs: Path) -> list[str]:
    """Return the locations of each scan in the event log; each scan has all of 12 folders."""
    text = "".join(file.read_text() for file in logs.rglob("*") if file.is_file())
    found = [
        node["metadata"]["Location"]
        for line in text.splitlines()
        if "sparkPlanInfo" in line
        for node in _nodes(json.loads(line)["sparkPlanInfo"])
        if "Location" in node["metadata"]
    ]
    assert found
    assert all(name.count("pages_of_the_section_of_number_") == 12 for name in found), found
    return found


def _nodes(plan) -> Iterator[dict]:
    yield plan
    for child in plan["children"]:
        yield from _nodes(child)
