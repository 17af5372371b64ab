"""Queries that the lake cannot answer: missing data are named, and never shown as no runs."""

import json

import pytest
from litestar.testing import TestClient

from lineage.errors import InvalidRequestError
from lineage.lake.settings import read_lake_settings
from service.api.app import create_app
from service.errors import (
    LakeTooLargeError,
    NoDataError,
    NoLongerKeptError,
    UnknownRunError,
    UnreachableLakeError,
)
from service.queries.lake import reading, recalled
from slis.stream import transient
from tests.service.commandline import lineward
from tests.service.queries.lake.september import (
    FAILED,
    LOADED,
    NAMED,
    NOW,
    THEN,
    Installation,
    fill,
    run_id_at,
)
from tests.slis.lake.s3 import S3Server, create_bucket, lake_variables

_DAY = ("2026-09-03", "2026-09-03")


@pytest.fixture
def installed(embedded, tmp_path):
    """Return an installation whose catalog has deleted September."""
    installed = fill(Installation(embedded, tmp_path))
    installed.forget()
    return installed


def _get(installed, path):
    app = create_app(installed.settings, clock=lambda: NOW)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        return client.get(path)


def test_the_error_of_an_unknown_run_counts_the_events_read(installed):
    """Count the events of the days, and name days of which the lake has none."""
    unknown = run_id_at(THEN, 999)

    with pytest.raises(UnknownRunError) as raised:
        installed.lake_run(unknown, "2026-09-03", "2026-09-05")

    assert str(raised.value) == (
        f"no event of a run {unknown!r} has been seen among the events of the lake, 17 in the days"
        " from 2026-09-03T00:00:00.000Z to 2026-09-06T00:00:00.000Z; of 2026-09-05 the lake has no"
        " events. The lake begins on 2026-09-03"
    )


def test_days_that_the_lake_has_deleted_are_gone_and_not_empty(installed):
    """Answer 410 with the first day that is left."""
    installed.forget(lake_days=80)

    with pytest.raises(NoLongerKeptError, match="holds events since 2026-11-26, and none of"):
        installed.lake_run(LOADED)

    answer = _get(installed, "/api/v1/lake/runs?dataset=core&from=2026-09-03&to=2026-09-03")
    assert (answer.status_code, answer.json()["title"]) == (410, "No longer kept")


def test_a_window_that_begins_before_the_lake_is_partial(installed):
    """List the runs of what is left, as a partial answer."""
    answer = installed.lake_runs("core", "2026-08-30", "2026-09-03")

    assert len(answer.runs) == 8
    assert "the lake holds events since 2026-09-03 only" in (answer.partial_reason or "")
    assert answer.read.days_without_events[0] == "2026-08-30"


def test_an_empty_lake_is_answered_503(embedded, tmp_path):
    """Answer 503, and no 404."""
    (tmp_path / "lake").mkdir()
    installed = Installation(embedded, tmp_path)

    with pytest.raises(NoDataError, match="the lake has no events yet"):
        installed.lake_run(LOADED)

    assert _get(installed, f"/api/v1/lake/runs/{LOADED}").status_code == 503


def test_a_machine_without_a_lake_names_the_setting(embedded, tmp_path):
    """Name the setting of a service on another machine than the pipeline."""
    installed = fill(Installation(embedded, tmp_path))
    (tmp_path / "lake").rename(tmp_path / "elsewhere")

    with pytest.raises(UnreachableLakeError, match="LINEWARD_LAKE_URL"):
        installed.lake_run(LOADED)


def test_files_that_are_not_there_are_no_answer(installed, tmp_path):
    """Fail as a whole: each lost file may have been of the run."""
    for file in (tmp_path / "lake").rglob("*.parquet"):
        file.unlink()

    with pytest.raises(UnreachableLakeError, match="files of the lake are absent"):
        installed.lake_run(LOADED)


def test_a_damaged_file_is_no_answer(installed, tmp_path):
    """Fail as where a file is absent."""
    for file in (tmp_path / "lake").rglob("*.parquet"):
        file.write_bytes(b"PAR1")

    with pytest.raises(UnreachableLakeError, match="cannot be read"):
        installed.lake_run(LOADED)


def test_a_bucket_that_does_not_answer_is_no_answer(embedded, tmp_path):
    """Name the place; answer again as soon as the bucket does."""
    server = S3Server()
    create_bucket(server.endpoint, "bucket")
    variables = lake_variables(server.endpoint, "bucket/lake", tmp_path)
    installed = fill(Installation(embedded, tmp_path, read_lake_settings(variables)))
    server.stop()

    with pytest.raises(UnreachableLakeError) as raised:
        installed.lake_run(LOADED)

    assert "LINEWARD_LAKE_URL: the lake s3://bucket/lake cannot be read" in str(raised.value)
    server.start()
    assert installed.lake_run(LOADED).runs
    server.stop()


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (("2026-09-03", "2026-10-04"), "31 days at most, got 32"),
        (("2026-09-04", "2026-09-03"), "is not before"),
        (("2026-09-31", "2026-10-01"), "no day of the calendar"),
        (("yesterday", "2026-10-01"), "expected a timestamp"),
        (("2026-09-03T10:00:00", "2026-09-04"), "no time zone"),
        (("2026-09-03",), "both or neither"),
    ],
)
def test_an_invalid_or_too_long_window_is_rejected(installed, window, message):
    """Reject the window before anything is read."""
    with pytest.raises(InvalidRequestError, match=message):
        installed.lake_run(LOADED, *window)


def test_an_id_without_a_time_needs_a_window(installed):
    """Ask for a window, unless the id is a UUID of version 7."""
    with pytest.raises(InvalidRequestError, match="give from and to"):
        installed.lake_run("nightly-42")

    with pytest.raises(UnknownRunError):
        installed.lake_run("nightly-42", *_DAY)


def test_a_window_that_takes_too_long_is_no_answer(installed):
    """Fail: an answer of half of the events would look like a whole one."""
    with pytest.raises(LakeTooLargeError, match="ask for a shorter time"):
        installed.lake_run(LOADED, seconds=0.0)


def test_more_events_than_fit_into_memory_are_no_answer(installed, monkeypatch):
    """Fail, and keep no more events in memory."""
    monkeypatch.setattr(recalled, "MOST_EVENTS", 3)

    with pytest.raises(LakeTooLargeError, match="more than 3 events"):
        installed.lake_runs("core")


def test_one_query_runs_at_a_time(installed):
    """Answer 503 meanwhile, and the same question afterwards."""
    with reading.open_reading(installed.settings.lake, installed.ask_catalog):
        answer = _get(installed, f"/api/v1/lake/runs/{LOADED}")

    assert (answer.status_code, answer.json()["title"]) == (503, "Lake busy")
    assert _get(installed, f"/api/v1/lake/runs/{LOADED}").status_code == 200


def test_an_event_that_the_pipeline_set_aside_is_left_out_and_counted(installed, monkeypatch):
    """Count the event that fails, and land all others."""
    real = transient.extract_from_table

    def failing(events):
        if any(b"fail" in body and b"START" in body for body in events["body"].to_pylist()):
            raise ValueError("odd")
        return real(events)

    monkeypatch.setattr(transient, "extract_from_table", failing)

    answer = installed.lake_runs("core")

    assert "1 events were left out" in (answer.partial_reason or "")
    assert {run.run_id for run in answer.runs} >= set(NAMED[:1])


def test_a_run_without_an_end_may_have_more_events_elsewhere(installed):
    """Report it for a run whose FAIL is after the window."""
    answer = installed.lake_run(FAILED, "2026-09-03T10:00:30Z", "2026-09-03T10:01:30Z")

    assert [run.status for run in answer.runs] == ["RUNNING"]
    assert "no start or no end among the events that were read" in (answer.partial_reason or "")


def test_the_command_and_the_api_answer_the_same(installed, tmp_path):
    """Compare both ways of both questions; give a failure its exit code."""
    folder = ("--data-dir", str(tmp_path), "--json")
    window = ("--from", "2026-09-03", "--to", "2026-09-03")
    run = lineward("lake", "run", LOADED, *folder, catalog=installed.catalog)
    runs = lineward("lake", "dataset", "core", *window, *folder, catalog=installed.catalog)

    of_run = _get(installed, f"/api/v1/lake/runs/{LOADED}")
    of_dataset = _get(installed, "/api/v1/lake/runs?dataset=core&from=2026-09-03&to=2026-09-03")

    assert json.loads(run.stdout) == of_run.json()
    assert json.loads(runs.stdout)["runs"] == of_dataset.json()["runs"]
    assert lineward("lake", "run", "x", *folder, catalog=installed.catalog).returncode == 2
    assert (
        "app.load" in lineward("lake", "run", LOADED, *folder[:2], catalog=installed.catalog).stdout
    )
    assert (
        LOADED
        in lineward(
            "lake", "dataset", "core", *window, *folder[:2], catalog=installed.catalog
        ).stdout
    )
