"""Runs without an end, which are shown as failed once their application has ended."""

import pytest
from litestar.testing import TestClient
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.states import NEVER_ENDED
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop

_APPLICATION = "0195f1c2-7f8e-7000-8000-00000000000a"
_WRITE = "0195f1c2-7f8e-7000-8000-00000000000b"
_BELOW_DAG = "0195f1c2-7f8e-7000-8000-00000000000c"


def _row(number, run_id, name, **given):  # noqa: ANN003
    """Return a row of `run`, of the application or below it."""
    ids = {"run_key": number, "run_id": run_id, "root_run_id": _APPLICATION}
    job = {"job_name": name, "root_job_name": "app"}
    times = {"first_event_at": shop.at(3), "last_event_at": shop.at(3), "started_at": shop.at(3)}
    ends = dict.fromkeys(("completed_at", "failed_at", "error_message", "job_type"))
    of_spark = dict.fromkeys(("integration", "processing_type", "parent_run_id"))
    return shop.run_row() | ids | job | times | ends | of_spark | given


@pytest.fixture
def client(embedded, tmp_path):
    """Return a client of a service on the shop."""
    shop.fill(embedded)
    given = Settings(catalog_url=str(embedded.url), data_dir=tmp_path)
    with TestClient(create_app(given), base_url="http://127.0.0.1") as answering:
        yield answering


def _store(engine, *, root, write, parent):
    runs = [_row(20, _APPLICATION, "app", **root), _row(21, _WRITE, "app.write", **write)]
    runs += [_row(22, _BELOW_DAG, "app.spark", **parent)] if parent else []
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.run), runs)
        written = shop.io_row(21, shop.dataset_key(shop.CORE), "write")
        connection.execute(insert(tables.run_io), [written | {"last_event_at": shop.at(3)}])


_ENDED = {"completed_at": shop.at(4), "last_event_at": shop.at(4)}
_DAG = _ENDED | {"integration": "AIRFLOW"}
_SPARK = {"integration": "SPARK"}
_OF_SPARK = _SPARK | {"parent_run_id": _BELOW_DAG}
_CASES = {
    "its application completed": (_ENDED, {}, "FAIL"),
    "its application failed": ({"failed_at": shop.at(4)}, {}, "FAIL"),
    "its application runs": ({}, {}, "RUNNING"),
    "events came after the end": (_ENDED, {"last_event_at": shop.at(4.5)}, "RUNNING"),
    "its end is never reported": (_ENDED, {"job_type": "RDD_JOB"}, "RUNNING"),
    "it completed": (_ENDED, {"completed_at": shop.at(3.5)}, "COMPLETE"),
    "its application outlives a DAG": (_DAG, _OF_SPARK, "RUNNING", _SPARK),
    "its application ended within a DAG": (_DAG, _OF_SPARK, "FAIL", _SPARK | _ENDED),
    "its DAG failed": (_DAG | {"failed_at": shop.at(4)}, _OF_SPARK, "FAIL", _SPARK),
    "it is an application of a DAG": (_DAG, _SPARK | {"job_type": "APPLICATION"}, "RUNNING"),
    "it is a stream of a DAG": (_DAG, _SPARK | {"processing_type": "STREAMING"}, "RUNNING"),
}


@pytest.mark.parametrize("case", _CASES)
def test_a_run_without_an_end_fails_with_the_end_of_its_application(embedded, client, case):
    """Say so in every list, with the time of that end and an error."""
    root, write, status, *parent = _CASES[case]
    _store(embedded, root=root, write=write, parent=parent[0] if parent else None)

    (run,) = client.get(f"/api/v1/runs/{_WRITE}").json()["runs"]
    named = f"dataset_namespace={shop.NAMESPACE}&dataset={shop.CORE}"
    recent = client.get(f"/api/v1/runs?{named}").json()["runs"]
    (job,) = client.get("/api/v1/last-runs?contains=app.write").json()["jobs"]
    marquez = client.get("/api/v1/namespaces/jobs/jobs/app.write").json()

    found = next(each for each in recent if each["run_id"] == _WRITE)
    assert {run["status"], found["status"], job["runs"][0]["status"]} == {status}
    assert marquez["latestRun"]["state"] == {"FAIL": "FAILED", "COMPLETE": "COMPLETED"}.get(
        status, status
    )
    error = NEVER_ENDED if status == "FAIL" else None
    assert (run["error_message"], job["runs"][0]["error"]) == (error, error)
    if status == "FAIL":
        assert run["finished_at"] == "2026-11-20T04:00:00.000Z"
