import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lineage.process.clock import to_micros
from service.ingest.marquez.store import (
    Comparison,
    MissingRunRow,
    Probe,
    PullState,
    SetAsideRow,
    Store,
)
from tests.collector.running import Collector
from tests.fakes.marquez import FakeMarquez, minutes, run_event
from tests.service.commandline import answer, lineward
from tests.service.ingest.marquez.beside import NOON

pytestmark = pytest.mark.postgres_nightly


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    running = Collector(tmp_path / "data").ready()
    yield running
    running.kill()


def _backfill(collector: Collector, marquez: FakeMarquez, *more: str):
    variables = {
        "LINEWARD_COLLECTOR_PORT": str(collector.port),
        "LINEWARD_DATA_DIR": str(collector.folder),
        "LINEWARD_MARQUEZ_URL": marquez.url,
    }
    return lineward("marquez", "backfill", *more, **variables)


def test_a_backfill_loads_history_once(collector: Collector, marquez: FakeMarquez):
    """Load a range over several pages, including its start and not its end, and once."""
    marquez.store([run_event(n, at=NOON + minutes(n // 3)) for n in range(1_203)])
    span = ("--from", "2026-11-21T12:00Z", "--to", "2026-11-21T18:40:00+00:00")

    first = _backfill(collector, marquez, *span, "--json")
    again = _backfill(collector, marquez, *span, "--json")

    expected = {"taken": 1_200, "refused": 0, "refusals": []}
    assert json.loads(first.stdout) == expected | {"partial": False, "partial_reason": None}
    assert again.returncode == 0
    spooled = collector.rows("SELECT origin, count(*) FROM event GROUP BY origin")
    assert spooled == [("marquez-history", 1_200)]


def test_a_rejected_event_is_named_by_its_run(collector: Collector, marquez: FakeMarquez):
    """Exit code 6, as for files."""
    marquez.store([run_event(1, at=NOON, run={"runId": "nightly-42"}), run_event(2, at=NOON)])

    done = _backfill(collector, marquez, "--from", "2026-11-21", "--json")

    report = json.loads(done.stdout)
    assert (done.returncode, report["taken"], report["refused"]) == (6, 1, 1)
    assert report["refusals"][0]["file"] == "nightly-42"
    assert "runId" in report["refusals"][0]["reason"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--from", "yesterday"), "--from: expected a date"),
        (("--from", "0001-01-01T00:00+14:00"), "--from: expected a time of the years"),
        (("--from", "2026-11-21", "--to", "2026-11-20"), "is not before"),
    ],
)
def test_a_wrong_span_is_wrong_usage(collector, marquez, options, words):
    """Exit code 2 and what to write instead."""
    done = _backfill(collector, marquez, *options)

    assert done.returncode == 2
    assert words in done.stderr


def test_a_marquez_that_is_away_is_one_sentence(collector: Collector, marquez: FakeMarquez):
    """Try several times, exit with 5, and send nothing again that was sent before."""
    marquez.status = 500
    done = _backfill(collector, marquez, "--from", "2026-11-21")

    assert done.returncode == 5
    assert "HTTP 500" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_url_the_setting_is_named():
    """Exit code 2."""
    done = lineward("marquez", "backfill", "--from", "2026-11-21")

    assert done.returncode == 2
    assert "LINEWARD_MARQUEZ_URL" in done.stderr


def _fill(catalog: Engine) -> None:
    store, at = Store(catalog), to_micros(datetime.now(UTC))
    store.cursor()
    store.note_forwarded(40, 38)
    store.set_aside(SetAsideRow(7, "r7", "http_422", "HTTP 422 job", b"{}", 2, at))
    store.pull_state("http://marquez:5000", at)
    store.note_pulled("http://marquez:5000", at, taken=5, rejected=1)
    store.note_probe(Probe(at, is_answered=True, seconds=1.25, status=200, detail="dataset:a:b"))
    missing = [
        MissingRunRow("there", "r8", "jobs", "etl\x1b[2J"),
        MissingRunRow("here", "r9", "j", "n"),
    ]
    store.note_comparison(Comparison(at, 100, 1, 90, 1), missing)


def test_the_status_shows_both_ways_and_names_what_is_missing(catalog: Engine):
    """Print as JSON and for people, with control characters escaped."""
    _fill(catalog)

    found = answer("marquez", "status", catalog=catalog)
    shown = lineward("marquez", "status", catalog=catalog).stdout

    forwarding = found["forwarding"]
    assert (forwarding["cursor"], forwarding["forwarded"]) == (40, 38)
    assert forwarding["set_aside"] == {"http_422": 1}
    assert forwarding["last_set_aside"][0]["run"] == "r7"
    assert (found["pulled"], found["pull_refused"]) == (5, 1)
    assert (found["probe"]["is_answered"], found["probe"]["seconds"]) == (True, 1.25)
    assert found["comparison"]["missing_there"] == 1
    assert [run["run_id"] for run in found["comparison"]["examples"]] == ["r9", "r8"]
    assert "1 of 100 runs of ours are missing there, 1 of 90 of theirs here" in shown
    assert "jobs/etl\\x1b[2J" in shown


def _set_aside(catalog: Engine) -> None:
    for seq in (7, 8, 9):
        body = json.dumps(run_event(seq, at=NOON), indent=1).encode()
        body += b" " * (70_000 if seq == 9 else 0)
        Store(catalog).set_aside(
            SetAsideRow(seq, f"r{seq}", "failed_alone", "", body, len(body), 0)
        )


def test_set_aside_events_are_sent_again(catalog: Engine, marquez: FakeMarquez):
    """Send it once it is fixed; name the events that were cut."""
    _set_aside(catalog)
    url = {"LINEWARD_MARQUEZ_URL": marquez.url}

    one = lineward("marquez", "resend", "8", catalog=catalog, **url)
    rest = lineward("marquez", "resend", "--json", catalog=catalog, **url)

    assert (one.returncode, one.stdout) == (0, "#8 of run r8: sent\n")
    assert rest.returncode == 6
    assert [row["outcome"] for row in json.loads(rest.stdout)] == ["sent", "sent", "cut"]
    assert [event["run"]["runId"][-1] for event in marquez.stored_events()] == ["8", "7", "8"]


def test_set_aside_events_are_printed_unchanged(catalog: Engine):
    """Print a JSON value a line, for other clients; report a wrong number."""
    _set_aside(catalog)

    shown = lineward("marquez", "resend", "7", "8", "--bodies", catalog=catalog)
    wrong = lineward("marquez", "resend", "6", "--bodies", catalog=catalog)

    events = [json.loads(line) for line in shown.stdout.splitlines()]
    assert events == [run_event(n, at=NOON) for n in (7, 8)]
    assert wrong.returncode == 2
    assert "6: not set aside" in wrong.stderr


def test_a_status_without_data_is_null(catalog: Engine):
    """Return null, and print `never`, for what has not happened."""
    found = answer("marquez", "status", catalog=catalog)

    assert [found[name] for name in ("forwarding", "probe", "comparison")] == [None] * 3
    assert (
        "never, or its role does not run" in lineward("marquez", "status", catalog=catalog).stdout
    )


def test_a_pull_begins_once(catalog: Engine):
    """Keep the start of the first time."""
    store = Store(catalog)
    store.pull_state("u", 5)
    store.note_pulled("u", 9, taken=0, rejected=0)

    assert store.pull_state("u", 7) == PullState(5, 9)
