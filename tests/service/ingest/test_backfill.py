import gzip
import json
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.ingest.backfill import RecordedEvent, events_in, files_in
from service.ingest.event_uploader import batch_events
from tests.collector.running import Collector
from tests.service.commandline import lineward
from tests.suite.ports import free_port

Load = Callable[..., subprocess.CompletedProcess[str]]


def _event(number: int) -> dict[str, object]:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-10-{number % 28 + 1:02}T02:00:00Z",
        "producer": "https://example.org/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"0195f1c2-7f8e-7000-8000-{number:012}"},
        "job": {"namespace": "jobs", "name": "etl"},
        "inputs": [],
        "outputs": [{"namespace": "s3://shop", "name": "core/orders"}],
    }


def _jsonl(count: int) -> bytes:
    return b"".join(json.dumps(_event(n)).encode() + b"\n" for n in range(count))


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Start a real collector."""
    running = Collector(tmp_path / "data").ready()
    yield running
    running.kill()


@pytest.fixture
def load(collector: Collector) -> Load:
    """Return a function that runs `lineward backfill files …` for that collector."""
    there = {
        "LINEWARD_COLLECTOR_PORT": str(collector.port),
        "LINEWARD_DATA_DIR": str(collector.folder),
    }
    return lambda *arguments: lineward("backfill", "files", *map(str, arguments), **there)


def test_history_is_loaded_from_every_kind_of_file_and_once(
    tmp_path: Path, collector: Collector, load: Load
):
    """Load lines, an array, a document over several lines and gzip; a second load adds nothing."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "lines.jsonl").write_bytes(_jsonl(1_200))
    (folder / "more.jsonl.gz").write_bytes(gzip.compress(_jsonl(1_210)))
    (folder / "array.json").write_text(json.dumps([_event(2_000), _event(2_001)], indent=1))
    (folder / "one.json").write_text(json.dumps(_event(3_000), indent=2))

    first = load(folder, "--json")
    again = load(folder, "--json")

    expected = {"taken": 2_413, "refused": 0, "refusals": []}
    assert json.loads(first.stdout) == expected | {"partial": False, "partial_reason": None}
    assert json.loads(again.stdout)["taken"] == 2_413
    spooled = collector.rows("SELECT origin, COUNT(*) FROM event GROUP BY origin")
    assert spooled == [("history", 1_213)]


def test_a_rejected_event_is_named_with_its_line(tmp_path: Path, load: Load):
    """List half a line and an event without a run, load the rest, and exit with 6."""
    file = tmp_path / "mixed.jsonl"
    no_run = {key: value for key, value in _event(2).items() if key != "run"}
    file.write_bytes(_jsonl(1) + b'{"eventType": "ST\n' + json.dumps(no_run).encode() + b"\n")

    done = load(file, "--json")

    report = json.loads(done.stdout)
    assert done.returncode == 6
    assert (report["taken"], report["refused"]) == (1, 2)
    assert sorted(rejection["position"] for rejection in report["refusals"]) == [2, 3]
    assert "not JSON" in report["refusals"][0]["reason"]


def test_without_a_collector_the_command_to_start_is_named(tmp_path: Path):
    """Print one sentence and exit with 5 before any file is read."""
    file = tmp_path / "lines.jsonl"
    file.write_bytes(_jsonl(1))

    done = lineward("backfill", "files", str(file), LINEWARD_COLLECTOR_PORT=str(free_port()))

    assert done.returncode == 5
    assert "start it with `lineward up`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_token_rejects_no_event(tmp_path: Path):
    """Print one sentence with the variable to set, and report no event as invalid."""
    secret = tmp_path / "token"
    secret.write_text("s3cret")
    collector = Collector(tmp_path / "data", token_file=secret).ready()
    file = tmp_path / "lines.jsonl"
    file.write_bytes(_jsonl(2))
    try:
        port = {"LINEWARD_COLLECTOR_PORT": str(collector.port)}
        done = lineward("backfill", "files", str(file), **port)
    finally:
        collector.kill()

    assert done.returncode == 6
    assert "set LINEWARD_COLLECTOR_TOKEN_FILE" in done.stderr
    assert "refused" not in done.stdout


def test_unjudged_events_of_a_batch_are_sent_again(tmp_path: Path):
    """Load every valid event, although the collector stops after three rejected events."""
    collector = Collector(tmp_path / "data", max_batch_rejected=3).ready()
    file = tmp_path / "lines.jsonl"
    bad = b"".join(
        json.dumps(_event(n) | {"run": {"runId": f"no-{n}"}}).encode() + b"\n" for n in range(8)
    )
    file.write_bytes(bad + _jsonl(20) + bad.replace(b"no-", b"neither-"))
    there = {
        "LINEWARD_COLLECTOR_PORT": str(collector.port),
        "LINEWARD_DATA_DIR": str(collector.folder),
    }
    try:
        done = lineward("backfill", "files", str(file), "--json", **there)
        stored = collector.rows("SELECT count(*) FROM event")
        kept = collector.rows("SELECT count(*) FROM rejected")
    finally:
        collector.kill()

    report = json.loads(done.stdout)
    assert (report["taken"], report["refused"]) == (20, 16)
    assert (stored, kept) == ([(20,)], [(16,)])


def test_a_path_that_does_not_exist_is_named(tmp_path: Path):
    """Exit code 2 and the path; nothing is sent."""
    done = lineward("backfill", "files", str(tmp_path / "none.jsonl"))

    assert done.returncode == 2
    assert done.stderr == f"lineward: {tmp_path / 'none.jsonl'} does not exist\n"


def test_a_folder_is_read_with_its_subfolders_and_without_hidden_names(tmp_path: Path):
    """Leave out the positions of `lineward ship`, which lie in the folder of the events."""
    for name in ("a.jsonl", "day/b.jsonl", ".lineward-ship/positions.json", "day/.c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(_jsonl(1))

    assert files_in([tmp_path]) == [tmp_path / "a.jsonl", tmp_path / "day" / "b.jsonl"]
    hidden = tmp_path / ".lineward-ship"
    assert files_in([hidden]) == [hidden / "positions.json"]


def test_batches_are_bounded_as_requests_are():
    """Put at most 500 events and 4 MiB into a batch, and a larger event alone."""
    small = [RecordedEvent(Path("f"), n, b"x") for n in range(501)]
    large = [RecordedEvent(Path("f"), n, b"x" * 3_000_000) for n in range(2)]

    assert [len(batch) for batch in batch_events([*small, *large])] == [500, 2, 1]


def test_a_compressed_file_is_closed_when_it_was_read(tmp_path):
    """Close the file below the gzip, as a folder of thousands would use up the handles."""
    file = tmp_path / "day.jsonl.gz"
    file.write_bytes(gzip.compress(b"{}\n"))

    with warnings.catch_warnings(record=True) as text:
        warnings.simplefilter("always", ResourceWarning)
        assert [one.body for one in events_in(file)] == [b"{}"]

    assert text == []
