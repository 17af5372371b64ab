"""Marquez's clients find each field where Marquez has it."""

from typing import Any
from urllib.parse import quote

import pytest
from litestar.testing import TestClient
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop
from tests.service.queries.marquez_api import warehouse
from tests.service.queries.marquez_api.asking import get
from tests.service.queries.marquez_api.warehouse import (
    AIRFLOW,
    LOAD,
    NAMESPACE,
    ODD,
    ORDERS,
    RAW,
    RUNS,
)

pytestmark = pytest.mark.postgres_nightly

_BUCKET = quote(NAMESPACE, safe="")
_ORDERS = f"/namespaces/{_BUCKET}/datasets/{quote(ORDERS, safe='')}"


def _dataset(name: str) -> dict[str, Any]:
    return {"namespace": NAMESPACE, "name": name, "dataset_namespace": NAMESPACE}


def _version(client: TestClient, number: int) -> str:
    version: str = get(client, f"{_ORDERS}/versions")["versions"][number]["version"]
    return version


def _run(client: TestClient, number: int) -> dict[str, Any]:
    run: dict[str, Any] = get(client, f"/jobs/runs/{RUNS[number]}")
    return run


def test_a_namespace_of_datasets_and_one_of_jobs(client):
    """List both in one list, by name."""
    listed = get(client, "/namespaces")

    assert [one["name"] for one in listed["namespaces"]] == [
        *(AIRFLOW, NAMESPACE, "s3://shop-secret", warehouse.SPARK),
    ]
    assert listed["namespaces"][1] == {
        "name": NAMESPACE,
        "createdAt": "2026-11-20T00:00:00.000Z",
        "updatedAt": "2026-11-20T03:00:00.000Z",
        "ownerName": "anonymous",
        "description": None,
        "isHidden": False,
        "dataset_namespace": NAMESPACE,
    }
    of_jobs = get(client, f"/namespaces/{AIRFLOW}")
    assert (of_jobs["createdAt"], of_jobs["updatedAt"], of_jobs["dataset_namespace"]) == (
        *("2026-11-20T04:00:00.000Z", "2026-11-20T09:30:00.000Z", None),
    )


@pytest.mark.postgres_always
def test_a_job_has_the_details_of_its_newest_runs(client):
    """Return inputs and outputs of the newest run that has any; a run has just begun."""
    job = get(client, f"/namespaces/{AIRFLOW}/jobs/{LOAD}")

    runs = [_run(client, number) for number in (13, 12, 11)]
    assert job == {
        "id": {"namespace": AIRFLOW, "name": LOAD},
        "type": "BATCH",
        "name": LOAD,
        "simpleName": LOAD,
        "parentJobName": "shop_daily",
        "parentJobUuid": job["parentJobUuid"],
        "createdAt": "2026-11-20T04:00:00.000Z",
        "updatedAt": "2026-11-20T06:00:00.000Z",
        "namespace": AIRFLOW,
        "inputs": [_dataset(RAW)],
        "outputs": [_dataset(ORDERS)],
        "location": None,
        "description": None,
        "latestRun": runs[0],
        "latestRuns": runs,
        "facets": {},
        "currentVersion": None,
        "labels": [],
        "tags": [],
    }
    listed = get(client, f"/namespaces/{AIRFLOW}/jobs")
    assert listed["jobs"][1] == job
    assert [one["name"] for one in listed["jobs"]] == [warehouse.PAY, LOAD, "shop_daily"]


def test_a_run_names_the_versions_that_it_read_and_wrote(client):
    """Show no version of a dataset that no job is known to have written."""
    run = _run(client, 12)

    written = _version(client, 0)
    assert run == {
        "id": RUNS[12],
        "createdAt": "2026-11-20T05:00:00.000Z",
        "updatedAt": "2026-11-20T05:15:00.000Z",
        "nominalStartTime": "2026-11-20T03:00:00.000Z",
        "nominalEndTime": None,
        "state": "COMPLETED",
        "startedAt": "2026-11-20T05:00:00.000Z",
        "endedAt": "2026-11-20T05:15:00.000Z",
        "durationMs": 900_000,
        "args": {"run_date": "2026-11-20"},
        "jobVersion": None,
        "inputDatasetVersions": [
            {"datasetVersionId": {**_dataset(RAW), "version": None}, "facets": {}}
        ],
        "outputDatasetVersions": [
            {"datasetVersionId": {**_dataset(ORDERS), "version": written}, "facets": {}}
        ],
        "facets": {},
    }
    read = _run(client, 17)["inputDatasetVersions"][0]["datasetVersionId"]
    assert read == {**_dataset(ORDERS), "version": written}
    assert [_run(client, number)["state"] for number in (13, 14)] == ["RUNNING", "FAILED"]


def test_a_run_wrote_the_version_of_its_hour(client, catalog):
    """Leave out what its root run wrote in a later hour."""
    row = warehouse.write_row(warehouse.dataset_key(ORDERS), 15, 8)
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset_write), [row | {"bucket": shop.at(8) + 1}])

    (written,) = _run(client, 12)["outputDatasetVersions"]

    assert written["datasetVersionId"]["version"] == _version(client, 1)


def test_a_run_read_the_version_that_was_the_newest_when_it_ended(client, catalog):
    """Leave out what was written later."""
    row = warehouse.run_row(20, 4.5, AIRFLOW, "report")
    read = shop.io_row(20, warehouse.dataset_key(ORDERS), "read")
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run), [row])
        connection.execute(insert(tables.run_io), [read])

    (found,) = _run(client, 20)["inputDatasetVersions"]

    assert found["datasetVersionId"]["version"] == _version(client, 1)


def test_a_run_and_its_job_have_the_stored_facets(client):
    """Name the producer of the run and the address of the schema of each facet."""
    of_run = get(client, f"/jobs/runs/{RUNS[12]}/facets", type="run")
    of_job = get(client, f"/jobs/runs/{RUNS[14]}/facets", type="job")

    assert (of_run["runId"], sorted(of_run["facets"])) == (
        *(RUNS[12], ["nominalTime", "parent", "processing_engine"]),
    )
    parent = of_run["facets"]["parent"]
    assert parent["run"] == {"runId": RUNS[15]}
    assert parent["root"]["job"] == {"namespace": AIRFLOW, "name": "shop_daily"}
    assert of_job["facets"] == {
        "jobType": {
            "_producer": "https://example.com/producer",
            "_schemaURL": (
                "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json"
                "#/$defs/JobTypeJobFacet"
            ),
            "processingType": "STREAMING",
        }
    }


def test_a_dataset_has_its_columns_tags_and_newest_version(client):
    """Return the fields of a graph's node, and more."""
    dataset = get(client, _ORDERS)

    plain = {"tags": [], "description": None}
    assert dataset == {
        "id": {"namespace": NAMESPACE, "name": ORDERS},
        "type": "DB_TABLE",
        "name": ORDERS,
        "physicalName": ORDERS,
        "createdAt": "2026-11-20T00:00:00.000Z",
        "updatedAt": "2026-11-20T03:00:00.000Z",
        "namespace": NAMESPACE,
        "sourceName": NAMESPACE,
        "fields": [
            {"name": "id", "type": "long", **plain, "tags": ["iban", "pii"]},
            {"name": "sum", "type": None, **plain},
        ],
        "tags": ["pii"],
        "lastModifiedAt": None,
        "lastLifecycleState": None,
        "description": None,
        "currentVersion": _version(client, 0),
        "columnLineage": None,
        "facets": {},
        "deleted": False,
        "dataset_namespace": NAMESPACE,
        "dataset": ORDERS,
    }
    listed = get(client, f"/namespaces/{_BUCKET}/datasets")
    assert [one["name"] for one in listed["datasets"]] == [RAW, ODD, ORDERS]
    assert (listed["datasets"][2], listed["totalCount"]) == (dataset, 3)


@pytest.mark.postgres_always
def test_each_write_is_a_version_and_is_found_by_its_id(client):
    """Name the run that wrote the version, not the DAG's."""
    listed = get(client, f"{_ORDERS}/versions")

    newest = listed["versions"][0]
    one = get(client, f"{_ORDERS}/versions/{newest['version']}")
    assert one == newest
    assert {**newest, "fields": [field["name"] for field in newest["fields"]]} == {
        "id": {**_dataset(ORDERS), "version": newest["version"]},
        "type": "DB_TABLE",
        "name": ORDERS,
        "physicalName": ORDERS,
        "createdAt": "2026-11-20T05:15:00.000Z",
        "version": newest["version"],
        "namespace": NAMESPACE,
        "sourceName": NAMESPACE,
        "fields": ["id", "sum"],
        "tags": ["pii"],
        "lifecycleState": None,
        "description": None,
        "currentSchemaVersion": newest["currentSchemaVersion"],
        "createdByRun": _run(client, 12),
        "facets": {},
    }
    assert [version["createdByRun"]["id"] for version in listed["versions"]] == [RUNS[12], RUNS[11]]
