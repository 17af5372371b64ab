"""Runs of September, asked in November: the lake answers what the catalog once answered."""

import os
from datetime import timedelta

import pytest
from litestar.testing import TestClient

from lineage.lake.settings import read_lake_settings
from service.api.app import create_app
from service.errors import UnknownDatasetError, UnknownRunError
from service.queries.visibility import Visibility
from tests.service.commandline import lineward
from tests.service.queries.lake.september import (
    CHILD,
    FAILED,
    LOADED,
    NAMED,
    NIGHT,
    NOW,
    READER,
    ROOT,
    RUNNING,
    SECRET,
    SILENT,
    THEN,
    TWIN,
    Installation,
    fill,
    september_events,
)
from tests.slis.lake.s3 import create_bucket, lake_variables, s3_server

pytestmark = pytest.mark.postgres_nightly


@pytest.fixture
def installed(catalog, tmp_path):
    """Return an installation with events of both months."""
    return fill(Installation(catalog, tmp_path))


def _ids(answer):
    return sorted({run.run_id for run in answer.runs})


def test_each_run_is_answered_as_the_catalog_did(installed):
    """Compare details, inputs, outputs, states and roots of each run, field by field."""
    before = {run_id: installed.catalog_runs(run_id) for run_id in NAMED}
    installed.forget()

    after = {run_id: installed.lake_run(run_id).runs for run_id in NAMED}

    assert after == before
    assert [len(runs) for run_id, runs in before.items() if run_id == TWIN] == [2]
    assert before[RUNNING][0].status == "FAIL"
    assert [run.run_id for run in before[SILENT]] == [CHILD]


@pytest.mark.postgres_always
def test_the_catalog_names_its_oldest_run_and_the_lake(installed):
    """Name both in the 404 of a run, with the command and the path."""
    installed.forget()

    with pytest.raises(UnknownRunError) as raised:
        installed.catalog_runs(LOADED)

    assert str(raised.value) == (
        f"no event of a run {LOADED!r} has been seen. The catalog keeps runs since"
        " 2026-11-13T09:00:00.000Z, and the lake keeps events since 2026-09-03: ask for an older"
        f" run by `lineward lake run {LOADED}` or GET /api/v1/lake/runs/{LOADED}"
    )


def test_lists_of_runs_name_the_lake_for_older_ones(installed):
    """Say so in JSON, on the terminal and on the page, once retention has deleted runs."""
    url = "/api/v1/runs?dataset=core&dataset_namespace=n"
    page = "/dataset?dataset=core&dataset_namespace=n"
    app = create_app(installed.settings, clock=lambda: NOW)
    sentence = "and the lake keeps events since 2026-09-03: ask for older runs by"
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get(url).json()["older"] is None
        assert "Older runs" not in client.get(page).text

        installed.forget()

        older = {"catalog_since": "2026-11-13T09:00:00.000Z", "lake_begins": "2026-09-03"}
        assert client.get(url).json()["older"] == older
        assert sentence in client.get(page).text
    shown = lineward("runs", "core", "--namespace", "n", catalog=installed.catalog).stdout
    assert sentence in " ".join(shown.split())


@pytest.mark.postgres_always
def test_a_dataset_has_the_runs_that_touched_it_in_the_window(installed):
    """Find runs that used its partition, or a name that became a symlink later."""
    before = {run_id: installed.catalog_runs(run_id) for run_id in NAMED}
    installed.forget()

    answer = installed.lake_runs("core")

    found = {run.run_id: run for run in answer.runs}
    assert set(NAMED) - set(found) == {NIGHT, ROOT, SILENT, CHILD}
    assert all(run in before[run_id] for run_id, run in found.items())
    assert answer.read.days_without_events == []
    assert answer.partial_reason == (
        "4 runs have no start or no end among the events that were read, from"
        " 2026-09-03T00:00:00.000Z to 2026-09-04T00:00:00.000Z: a longer time may have more of them"
    )


def test_a_run_over_midnight_is_whole_on_the_day_on_which_it_wrote(installed):
    """Read its START too, which is of the day before the window."""
    [before] = installed.catalog_runs(NIGHT)
    installed.forget()

    answer = installed.lake_runs("core", "2026-09-04", "2026-09-04")

    assert answer.runs == [before]
    assert before.started_at == "2026-09-03T23:45:00.000Z"


def test_runs_are_filtered_by_what_they_did_with_the_dataset(installed):
    """Filter by the direction of the dataset that is asked for."""
    installed.forget()

    assert _ids(installed.lake_runs("core", direction="read")) == [READER]
    assert READER not in _ids(installed.lake_runs("core", direction="write"))
    assert _ids(installed.lake_runs("raw", direction="write")) == []


def test_pages_together_have_each_run_once(installed):
    """Page through the runs, the newest first."""
    installed.forget()
    whole = installed.lake_runs("core").runs

    pages, cursor = [], None
    while not pages or cursor:
        page = installed.lake_runs("core", limit=2, cursor=cursor)
        pages.append(page.runs)
        cursor = page.next_cursor

    assert [run for page in pages for run in page] == whole
    assert [len(page) for page in pages] == [2, 2, 2, 2]


def test_a_part_of_a_day_has_its_runs_alone(installed):
    """Take timestamps in place of days."""
    installed.forget()

    answer = installed.lake_runs("core", "2026-09-03T10:00:30Z", "2026-09-03T10:02:30Z")

    assert _ids(answer) == [FAILED]


def test_a_dataset_that_the_catalog_deleted_is_found_by_its_namespace(catalog, tmp_path):
    """Answer who may see all, and nobody else: its other names are forgotten too."""
    installed = Installation(catalog, tmp_path)
    installed.land(september_events(), THEN + timedelta(days=1))
    before = installed.catalog_runs(TWIN)
    installed.forget()

    answer = installed.lake_runs("other")

    assert answer.runs == [run for run in before if run.job_name == "two"]
    with pytest.raises(UnknownDatasetError):
        installed.lake_runs("other", visibility=Visibility(["n"]))
    with pytest.raises(UnknownRunError):
        installed.lake_run(TWIN, visibility=Visibility(["n"]))


def test_a_secret_in_an_old_event_is_redacted(installed):
    """Replace the password in the error of a run."""
    installed.forget()

    [run] = installed.lake_run(FAILED).runs

    assert SECRET not in (run.error_message or "")
    assert "login failed" in (run.error_message or "")


def test_a_token_sees_of_old_runs_what_it_saw_of_new_ones(installed):
    """Compare what a token of one namespace sees before and after."""
    visibility = Visibility(["n"])
    touching = [run_id for run_id in NAMED if run_id not in {ROOT, SILENT}]
    before = {run_id: installed.catalog_runs(run_id, visibility) for run_id in touching}
    installed.forget()

    after = {run_id: installed.lake_run(run_id, visibility=visibility).runs for run_id in touching}

    assert after == before


def test_the_lake_in_a_bucket_answers_the_same(embedded, tmp_path):
    """Compare each run before and after, with the lake on an S3 server."""
    with s3_server() as endpoint:
        bucket = create_bucket(endpoint, f"b{os.urandom(4).hex()}")
        variables = lake_variables(endpoint, f"{bucket.name}/lake", tmp_path)
        installed = fill(Installation(embedded, tmp_path, read_lake_settings(variables)))
        before = {run_id: installed.catalog_runs(run_id) for run_id in NAMED}
        installed.forget()

        assert {run_id: installed.lake_run(run_id).runs for run_id in NAMED} == before
        assert len(installed.lake_runs("core").runs) == 8
