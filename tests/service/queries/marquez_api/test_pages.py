"""Pages, names in paths, and unknown names."""

from urllib.parse import quote

import pytest
from litestar.testing import TestClient
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.job_names import WITH_EVERY_JOB
from service.queries.marquez_api import datasets, job_list, paging, runs
from service.queries.marquez_api.ids import version_id
from service.queries.timestamps import iso_of
from tests.service import shop
from tests.service.queries.marquez_api import warehouse
from tests.service.queries.marquez_api.warehouse import AIRFLOW, LOAD, NAMESPACE, ODD, ORDERS, RUNS
from tests.service.serving import answer_of, served

pytestmark = pytest.mark.postgres_nightly

_BUCKET = quote(NAMESPACE, safe="")
_LISTS = {
    "/namespaces": ("namespaces", "name"),
    "/sources": ("sources", "name"),
    "/tags": ("tags", "name"),
    "/jobs": ("jobs", "name"),
    f"/namespaces/{AIRFLOW}/jobs": ("jobs", "name"),
    f"/namespaces/{AIRFLOW}/jobs/{LOAD}/runs": ("runs", "id"),
    f"/namespaces/{_BUCKET}/datasets": ("datasets", "name"),
    f"/namespaces/{_BUCKET}/datasets/{quote(ORDERS, safe='')}/versions": ("versions", "version"),
}

_COUNTED = [
    path for path, (rows, _) in _LISTS.items() if rows not in {"namespaces", "sources", "tags"}
]


def _names(client: TestClient, path: str, **parameters: str | int | list[str]) -> list[str]:
    rows, name = _LISTS[path]
    answer = client.get(f"/api/v1{path}", params=parameters).json()
    return [row[name] for row in answer[rows]]


@pytest.mark.parametrize("path", _LISTS)
def test_a_list_is_read_page_by_page(client, path):
    """Return every row once, in one order; behind the last page comes an empty one."""
    whole = _names(client, path)

    pages = [_names(client, path, limit=1, offset=number) for number in range(len(whole) + 1)]

    assert len(whole) > 1
    assert pages == [*([name] for name in whole), []]
    assert _names(client, path, limit=0) == []


@pytest.mark.parametrize("path", _COUNTED)
def test_the_total_is_of_the_whole_list(client, path):
    """Count the whole list on every page."""
    whole = _names(client, path)

    answer = client.get(f"/api/v1{path}", params={"limit": 1, "offset": 1}).json()

    assert (answer["totalCount"], answer["partial"]) == (len(whole), False)


@pytest.mark.parametrize("query", ["limit=-1", "limit=1001", "offset=-1", "limit=x"])
def test_a_limit_out_of_range_is_rejected(client, query):
    """Name the bound in the answer."""
    assert client.get(f"/api/v1/jobs?{query}").status_code == 400


def test_a_total_that_is_too_large_is_a_lower_bound(client, monkeypatch):
    """Stop at the bound."""
    monkeypatch.setattr(paging, "MOST_COUNTED", 1)

    answer = client.get(f"/api/v1/namespaces/{AIRFLOW}/jobs/{LOAD}/runs").json()

    assert (answer["totalCount"], answer["partial_reason"]) == (1, "totalCount stops at 1 runs")


def test_a_list_of_too_many_jobs_is_marked_as_cut(client, monkeypatch):
    """Say that the list is cut."""
    monkeypatch.setattr(job_list, "MOST_JOBS", 2)

    answer = client.get("/api/v1/jobs").json()

    assert (len(answer["jobs"]), answer["partial"]) == (2, True)


def test_jobs_are_listed_by_the_state_of_their_newest_run(client):
    """Take a state more than once."""
    running = _names(client, "/jobs", lastRunStates="RUNNING")
    ended = _names(client, "/jobs", lastRunStates=["FAILED", "COMPLETED"])

    assert running == [LOAD]
    assert ended == [warehouse.PAY, warehouse.STREAM, "shop_daily"]


def test_runs_of_another_job_of_the_same_name_are_not_listed(client, catalog):
    """Distinguish namespaces that begin alike."""
    long = f"{'n' * 100}one", f"{'n' * 100}two"
    rows = [warehouse.run_row(30 + n, 1, name, "twin", run_id=name) for n, name in enumerate(long)]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run), rows)

    for name in long:
        runs = client.get(f"/api/v1/namespaces/{name}/jobs/twin/runs").json()
        assert ([run["id"] for run in runs["runs"]], runs["totalCount"]) == ([name], 1)


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (job_list.EVERY, "run_job"),
        (job_list.OF_NAMESPACE, "run_job"),
        (runs.OF_JOB_PAGE, "run_job"),
        (datasets.PAGE, "dataset_write_time"),
        (datasets.AT, "dataset_write_time"),
    ],
    ids=["jobs", "jobs of a namespace", "runs of a job", "versions", "a version"],
)
def test_runs_and_writes_are_found_by_an_index(embedded, sql, index):
    """Read by an index: there may be 100 million rows."""
    names = {"job_namespace": "n", "job_name": "j"}
    values = names | {"key": 1, "written_at": 1, "limit": 1, "offset": 0}
    with embedded.connect() as connection:
        rows = connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"), values).all()
    plan = [row[3] for row in rows]

    assert any(index in step for step in plan)
    assert not {"SCAN run", "SCAN r", "SCAN dataset_write"} & set(plan)


_SPELLINGS = (
    f"/namespaces/{_BUCKET}/datasets/{quote(ORDERS, safe='')}",
    f"/namespaces/{NAMESPACE}/datasets/{ORDERS}",
    f"/namespaces/{NAMESPACE}/datasets/{ORDERS}/",
    f"/namespaces/s3:/shop/datasets/{ORDERS}",
    f"/namespaces/s3a%3A%2F%2Fshop/datasets/{ORDERS}",
    f"/namespaces/{_BUCKET.lower()}/datasets/{quote(ORDERS, safe='').lower()}",
)


@pytest.mark.parametrize("path", _SPELLINGS)
def test_a_name_with_slashes_is_found_encoded_or_not(client, path):
    """Find a dataset by any spelling of its namespace."""
    answer = client.get(f"/api/v1{path}")

    assert (answer.status_code, answer.json().get("name")) == (200, ORDERS)


def test_names_with_colons_and_percent_signs_are_found(client):
    """Decode a name once, also if it looks encoded then."""
    odd = client.get(f"/api/v1/namespaces/{_BUCKET}/datasets/{quote(ODD, safe='')}").json()
    job = client.get(
        f"/api/v1/namespaces/{quote(warehouse.SPARK, safe='')}/jobs/{warehouse.STREAM}"
    ).json()

    assert (odd["name"], job["type"]) == (ODD, "STREAM")


def test_the_server_passes_paths_unchanged(client):
    """Find a dataset over HTTP as in the tests' client, also below a base URL with a slash."""
    path = f"//api/v1/namespaces/{_BUCKET}/datasets/{quote(ORDERS, safe='')}/versions"
    request = f"GET {path}?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"

    with served(client.app) as port:
        answer = answer_of(port, request.encode())

    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"totalCount":2' in answer


_OTHER = version_id(shop.at(5.25), RUNS[0])
_UNKNOWN = {
    "/namespaces/nowhere": "Namespace 'nowhere' not found.",
    "/namespaces/nowhere/datasets": "Namespace 'nowhere' not found.",
    "/namespaces/nowhere/datasets/x": "Dataset 'x' not found.",
    f"/namespaces/{_BUCKET}/datasets/x/versions": "Dataset 'x' not found.",
    f"/namespaces/{_BUCKET}/datasets/{ORDERS}/versions/x": "Dataset version 'x' not found.",
    f"/namespaces/{_BUCKET}/datasets/{ORDERS}/versions/{RUNS[0]}": (
        f"Dataset version '{RUNS[0]}' not found."
    ),
    # Of the same time as a write, by another run.
    f"/namespaces/{_BUCKET}/datasets/{ORDERS}/versions/{_OTHER}": (
        f"Dataset version '{_OTHER}' not found."
    ),
    f"/namespaces/{AIRFLOW}/jobs/x": "Job 'x' not found.",
    f"/namespaces/{AIRFLOW}/jobs/x/runs": "Job 'x' not found.",
    f"/jobs/runs/{RUNS[0]}": f"Run '{RUNS[0]}' not found.",
    f"/jobs/runs/{RUNS[0]}/facets?type=run": f"Run '{RUNS[0]}' not found.",
    "/sources/nowhere": "Source 'nowhere' not found.",
}


@pytest.mark.parametrize(("path", "message"), _UNKNOWN.items())
def test_an_unknown_name_is_a_404_in_marquez_s_words(client, path, message):
    """Answer with `code` and `message`, which Marquez's clients read."""
    answer = client.get(f"/api/v1{path}")

    found = answer.json()
    assert (answer.status_code, found["code"], found["message"]) == (404, 404, message)


def test_the_jobs_of_an_unknown_namespace_are_none(client):
    """Answer as Marquez, which does not ask whether the namespace exists."""
    answer = client.get("/api/v1/namespaces/nowhere/jobs")

    assert (answer.status_code, answer.json()["totalCount"]) == (200, 0)


def test_a_job_shows_at_most_ten_runs(client, catalog):
    """List every run of the job."""
    rows = [
        warehouse.run_row(50 + n, 10 + n / 100, AIRFLOW, LOAD, run_id=f"run-{n:02}")
        for n in range(12)
    ]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run), rows)

    job = client.get(f"/api/v1/namespaces/{AIRFLOW}/jobs/{LOAD}").json()
    runs = client.get(f"/api/v1/namespaces/{AIRFLOW}/jobs/{LOAD}/runs").json()

    assert [run["id"] for run in job["latestRuns"]] == [f"run-{n:02}" for n in range(11, 1, -1)]
    assert (runs["totalCount"], len(runs["runs"])) == (15, 15)
    assert job["createdAt"] == "2026-11-20T04:00:00.000Z"
    assert job["updatedAt"] == iso_of(shop.at(10.11))


@pytest.mark.usefixtures("client")
def test_jobs_come_in_the_order_in_which_a_long_list_is_cut(catalog):
    """List the jobs of one namespace after the other, however many each has."""
    sql = f"{WITH_EVERY_JOB} SELECT part, name FROM job WHERE name <> ''"  # noqa: S608 - SQL of ours
    with catalog.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(sql))]

    assert len({part for part, _ in found}) > 1
    assert found == sorted(found)
