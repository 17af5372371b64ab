"""Jobs by their own names, as the API, the command line and the page list them."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop
from tests.service.api.access.conftest import estate
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

__all__ = ["estate"]  # a fixture of the tests of access
_PATH = "/api/v1/last-runs"


def _run(number: int, name: str, hour: float, **given: object) -> dict[str, object]:
    """Return a row of `run`, of a task of the DAG `nightly` without datasets."""
    ends = {"started_at": shop.at(hour), "completed_at": shop.at(hour + 0.5), "failed_at": None}
    names = {"run_key": number, "run_id": f"run-{number}", "root_run_id": f"root-{number}"}
    job = {"job_namespace": "airflow", "job_name": name, "root_job_name": "nightly"}
    kind = {"job_type": "TASK", "integration": "AIRFLOW", "error_message": None}
    seen = {"first_event_at": shop.at(hour), "last_event_at": shop.at(hour + 0.5)}
    return shop.run_row() | ends | names | job | kind | seen | given


@pytest.fixture
def jobs(estate):
    """Fill two tasks, one name that two namespaces use, and the shop's own job."""
    failed = {"completed_at": None, "failed_at": shop.at(9.25)}
    rows = [
        *(_run(10 + n, "nightly.check", n) for n in range(7)),
        _run(20, "nightly.check", 9, error_message="no rates\n  at line 7", **failed),
        _run(30, "nightly.load", 3),
        _run(31, "nightly.load", 4, job_namespace="airflow-2"),
    ]
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.run), rows)
    return estate


def test_a_failed_task_without_datasets_is_found_by_its_name(jobs):
    """Show its newest runs, the first line of its error, and its root."""
    (job,) = jobs.get(f"{_PATH}?contains=CHECK").json()["jobs"]

    runs = job.pop("runs")
    assert job == {
        "job_namespace": "airflow",
        "job_name": "nightly.check",
        "root_job_namespace": "jobs",
        "root_job_name": "nightly",
        "job_type": "TASK",
        "integration": "AIRFLOW",
    }
    assert [run["run_id"] for run in runs] == ["run-20", "run-16", "run-15", "run-14", "run-13"]
    assert runs[0] == {
        "run_id": "run-20",
        "status": "FAIL",
        "first_event_at": "2026-11-20T09:00:00.000Z",
        "started_at": "2026-11-20T09:00:00.000Z",
        "finished_at": "2026-11-20T09:15:00.000Z",
        "duration_seconds": 900.0,
        "error": "no rates",
    }


def test_a_name_that_two_namespaces_use_is_two_jobs(jobs):
    """List by namespace and name."""
    found = jobs.get(_PATH).json()

    assert [(job["job_namespace"], job["job_name"]) for job in found["jobs"]] == [
        ("airflow", "nightly.check"),
        ("airflow", "nightly.load"),
        ("airflow-2", "nightly.load"),
        ("jobs", "etl.insert"),
    ]
    assert (found["partial"], found["next_cursor"]) == (False, None)


def test_pages_of_jobs_lead_to_all_of_them(jobs):
    """Say that a page is cut, and reject a cursor of another request."""
    first = jobs.get(f"{_PATH}?limit=2").json()
    cursor = first["next_cursor"]
    second = jobs.get(f"{_PATH}?limit=2&cursor={cursor}").json()

    names = [[job["job_name"] for job in page["jobs"]] for page in (first, second)]
    assert names == [["nightly.check", "nightly.load"], ["nightly.load", "etl.insert"]]
    assert first["partial_reason"] == "the jobs of 2 names shown; more exist"
    assert second["next_cursor"] is None
    assert jobs.get(f"{_PATH}?contains=x&cursor={cursor}").status_code == 400


@pytest.mark.parametrize("path", [_PATH, "/jobs"])
def test_a_token_of_some_namespaces_gets_no_list(jobs, path):
    """Reject such a token: a job's name may name any dataset, and a job may have no dataset."""
    assert [jobs.get(path, who).status_code for who in ("boss", "clerk", "shop")] == [200, 200, 403]


def test_the_command_and_the_page_show_what_the_api_answers(jobs):
    """Compare JSON, table, and the page with its links to runs."""
    shown = lineward("jobs", "--contains", "check", catalog=jobs.catalog).stdout
    page = jobs.get("/jobs?find=check").text

    assert answer("jobs", "--limit", "100", catalog=jobs.catalog) == jobs.get(_PATH).json()
    assert "airflow/nightly.check" in shown
    assert "no rates" in shown
    assert 'href="/runs/run-20"' in page
    assert "nightly.load" not in page
    assert "No jobs match." in jobs.get("/jobs?find=zzz").text


def test_names_and_runs_are_found_by_an_index(embedded):
    """Look at one of 10^8 runs for each name, and at the newest 20 of each job shown."""
    shop.fill(embedded)
    with embedded.connect() as connection:
        plans = [
            connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values).all()
            for sql, values in _queries()
        ]
    steps = [row[3] for plan in plans for row in plan]

    assert not [step for step in steps if step in {"SCAN run", "SCAN r"}], steps
    assert sum("run_job" in step for step in steps) >= 3


def _queries():
    from service.queries import jobs as module  # noqa: PLC0415 - its private queries

    names = module._NAMES.format(alike="1 = 1")  # noqa: SLF001
    newest = module._NEWEST.format(n=0)  # noqa: SLF001
    yield names, {"part": "", "name": "", "most": 10}
    yield newest, {"part_0": "jobs", "name_0": "etl", "looked_at": 20}
