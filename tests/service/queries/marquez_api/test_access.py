"""Marquez's API for a limited token: hidden datasets are neither named nor counted."""

from urllib.parse import quote

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.queries.marquez_api import runs
from tests.service import shop
from tests.service.api.access.estate import HIDDEN
from tests.service.queries.marquez_api import warehouse
from tests.service.queries.marquez_api.warehouse import (
    AIRFLOW,
    LOAD,
    NAMESPACE,
    ORDERS,
    PAY,
    RAW,
    RUNS,
)

pytestmark = pytest.mark.postgres_nightly

_BUCKET, _VAULT = quote(NAMESPACE, safe=""), quote(HIDDEN, safe="")
_ORDERS = f"/api/v1/namespaces/{_BUCKET}/datasets/{quote(ORDERS, safe='')}"
# Each names the hidden dataset, its namespace, its tag or its job to a token that may see all.
_LISTS = (
    "/api/v1/namespaces",
    "/api/v1/sources",
    "/api/v1/tags",
    "/api/v1/jobs",
    f"/api/v1/namespaces/{AIRFLOW}/jobs",
    "/api/v1/search?q=zebra",
    "/api/v2beta/search/jobs?q=zebra",
    "/api/v2beta/search/datasets?q=zebra",
)
_HIDDEN = (
    f"/api/v1/namespaces/{_VAULT}",
    f"/api/v1/namespaces/{_VAULT}/datasets",
    f"/api/v1/namespaces/{_VAULT}/datasets/zebra%2Fsalaries",
    f"/api/v1/namespaces/{_VAULT}/datasets/zebra%2Fsalaries/versions",
    f"/api/v1/sources/{_VAULT}",
    f"/api/v1/namespaces/{AIRFLOW}/jobs/{PAY}",
    f"/api/v1/namespaces/{AIRFLOW}/jobs/{PAY}/runs",
    f"/api/v1/jobs/runs/{RUNS[17]}",
    f"/api/v1/jobs/runs/{RUNS[17]}/facets?type=run",
)


@pytest.mark.postgres_always
def test_no_list_names_a_hidden_dataset(estate):
    """Hide how much of it exists, too."""
    for path in _LISTS:
        whole, cut = estate.get(path, "boss"), estate.get(path, "shop")

        assert "zebra" in whole.text or HIDDEN in whole.text, path
        found = (cut.status_code, "zebra" in cut.text, HIDDEN in cut.text)
        assert found == (200, False, False), path
        if "totalCount" in cut.json():
            rows = next(value for value in cut.json().values() if isinstance(value, list))
            assert cut.json()["totalCount"] == len(rows) < whole.json()["totalCount"], path


@pytest.mark.postgres_always
def test_a_hidden_name_is_answered_as_an_unknown_one(estate):
    """Answer with the same words."""
    for path in _HIDDEN:
        hidden, seen = estate.get(path, "shop"), estate.get(path, "boss")

        assert (hidden.status_code, seen.status_code) == (404, 200), path
        assert hidden.json()["title"] == "Unknown node", path
        for word in ("zebra", HIDDEN):
            assert word not in hidden.text.replace(hidden.json()["message"], ""), path


@pytest.mark.postgres_always
def test_visible_parts_are_answered_without_free_texts(estate):
    """Show a job's own name, runs and versions, but neither arguments nor the DAG's own run."""
    job = estate.get(f"/api/v1/namespaces/{AIRFLOW}/jobs/{LOAD}", "shop").json()
    versions = estate.get(f"{_ORDERS}/versions", "shop").json()

    assert [one["name"] for one in job["inputs"] + job["outputs"]] == [RAW, ORDERS]
    assert [run["id"] for run in job["latestRuns"]] == [RUNS[12], RUNS[11]]
    assert job["latestRun"]["args"] == {}
    assert [one["createdByRun"]["id"] for one in versions["versions"]] == [RUNS[12], RUNS[11]]
    listed = estate.get("/api/v1/jobs", "shop").json()
    assert [one["name"] for one in listed["jobs"]] == [warehouse.STREAM, LOAD]
    assert listed["partial_reason"] == "parts are hidden from this token"


@pytest.mark.postgres_always
def test_hidden_runs_of_a_job_are_not_counted(estate):
    """Leave out an older run that wrote the hidden dataset."""
    old = warehouse.run_row(40, 1, AIRFLOW, LOAD)
    more = [
        warehouse.run_row(41 + n, 10 + n, AIRFLOW, LOAD, run_id=f"run-{n:02}") for n in range(10)
    ]
    raw, salaries = warehouse.dataset_key(RAW), _salaries()
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.run), [old | {"run_id": "old"}, *more])
        reads = [shop.io_row(41 + n, raw, "read") for n in range(10)]
        connection.execute(insert(tables.run_io), [shop.io_row(40, salaries, "write"), *reads])

    path = f"/api/v1/namespaces/{AIRFLOW}/jobs/{LOAD}/runs"
    whole, cut = estate.get(path, "boss").json(), estate.get(path, "shop").json()

    assert (whole["totalCount"], cut["totalCount"], len(cut["runs"])) == (14, 12, 12)
    assert "old" not in {run["id"] for run in cut["runs"]}


def test_a_job_whose_newest_run_is_hidden_is_hidden(estate):
    """Hide its other runs, which would give away the name."""
    run = warehouse.run_row(40, 11, AIRFLOW, PAY)
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.run), [run])
        read = shop.io_row(40, warehouse.dataset_key(RAW), "read")
        connection.execute(insert(tables.run_io), [read])

    path = f"/api/v1/namespaces/{AIRFLOW}/jobs/{PAY}"
    assert (estate.get(path, "shop").status_code, estate.get(path, "boss").status_code) == (
        404,
        200,
    )
    assert PAY not in estate.get("/api/v1/jobs", "shop").text


def test_an_error_needs_a_token_for_all_namespaces(estate):
    """Withhold the error, which may name anything."""
    path = f"/api/v1/jobs/runs/{RUNS[14]}/facets?type=run"
    whole, cut = (estate.get(path, who).json()["facets"] for who in ("clerk", "shop"))

    assert whole["errorMessage"]["message"] == "no column zebra"
    assert cut.keys() == whole.keys() - {"errorMessage"}


def _salaries() -> int:
    return warehouse.key(HIDDEN, warehouse.SALARIES)


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    "path", ["/api/v1/events/lineage", "/api/v1/stats/lineage-events?period=DAY"]
)
def test_events_and_counts_need_a_token_for_all_namespaces(estate, path):
    """Answer 403, as events are unchanged and counts cover all of them."""
    assert estate.get(path, "shop").status_code == 403
    assert estate.get(path, "boss").status_code == 200
    assert estate.get("/api/v1/events/lineage", "clerk").status_code == 403


def test_the_audit_log_has_the_namespaces_of_an_answer(estate):
    """Log the namespaces of datasets, in lists and in runs."""
    estate.get("/api/v1/jobs", "boss")
    estate.get(f"{_ORDERS}/versions", "shop")

    rows = estate.rows("SELECT who, action, namespaces FROM access_audit ORDER BY id")
    assert rows == [
        ("boss", "jobs", f'["{NAMESPACE}","{HIDDEN}"]'),
        ("shop", "history", f'["{NAMESPACE}"]'),
    ]
    estate.judge()
    assert estate.m10 == (2, 2, 0)


def test_without_the_filter_hidden_runs_are_shown(estate, monkeypatch):
    """Show every run as a mutant of the tests above."""
    monkeypatch.setattr(runs, "shown_keys", lambda _reader, keys, _visibility: set(keys))

    assert estate.get(f"/api/v1/jobs/runs/{RUNS[17]}", "shop").status_code == 200
