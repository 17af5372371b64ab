"""Bodies in the shapes of Airflow, dbt and Flink, and of events without a run."""

from typing import Any

from lab.bench.ingest import facets
from lab.bench.ingest.facets import facet

_AIRFLOW = facets.producer("airflow")
_DBT = facets.producer("dbt")
_FLINK = facets.producer("flink")
_WAREHOUSE = "postgres://warehouse:5432"
_TRACE = "Traceback (most recent call last):\n" + '  File "/dags/orders.py", line 7\n' * 30


def task(state: str, *, columns: int = 0) -> dict[str, Any]:
    """Return an event of an Airflow task; with columns it ran a query."""
    name = "shop_daily.load_orders"
    run = {
        "parent": facets.parent(_AIRFLOW, "airflow", "shop_daily"),
        "processing_engine": facets.engine(_AIRFLOW, "Airflow", "3.1.0"),
        "airflow": _airflow(),
        "nominalTime": facet(_AIRFLOW, "NominalTimeRunFacet", nominalStartTime="2026-11-27T00:00Z"),
    }
    if state == "FAIL":
        fields = {"message": "Täglich: ✗", "programmingLanguage": "python", "stackTrace": _TRACE}
        run["errorMessage"] = facet(_AIRFLOW, "ErrorMessageRunFacet", **fields)
    job = {
        "jobType": facets.job_type(_AIRFLOW, "AIRFLOW", "TASK"),
        "ownership": facet(_AIRFLOW, "OwnershipJobFacet", owners=[{"name": "shop-team"}]),
    }
    if columns:
        job["sql"] = facets.sql(_AIRFLOW, columns, "shop.raw.orders")
    tables = [_table(_AIRFLOW, name, columns) for name in ("raw", "core")] if columns else []
    return _event(_AIRFLOW, state, name, (run, job), tables)


def model(state: str, columns: int) -> dict[str, Any]:
    """Return an event of a dbt model; COMPLETE has its column lineage."""
    run = {
        "parent": facets.parent(_DBT, "dbt", "dbt-run-shop"),
        "dbt_version": facet(_DBT, "DbtVersionRunFacet", version="1.11.2"),
    }
    job = {
        "jobType": facets.job_type(_DBT, "DBT", "MODEL"),
        "sql": facets.sql(_DBT, columns, "shop.raw.orders"),
    }
    tables = [_table(_DBT, name, columns) for name in ("staging", "core")]
    if state == "COMPLETE":
        upstream = (_WAREHOUSE, "shop.staging.orders")
        lineage = facets.column_lineage(_DBT, columns, upstream)
        tables[1]["facets"]["columnLineage"] = lineage
    return _event(_DBT, state, "shop.core.orders", (run, job), tables)


def assertions(count: int) -> dict[str, Any]:
    """Return an event of dbt tests of one table."""
    tests = [
        {"assertion": "not_null", "success": True, "column": name} for name in facets.columns(count)
    ]
    table = _table(_DBT, "core", 0)
    found = facet(_DBT, "DataQualityAssertionsDatasetFacet", assertions=tests)
    table["inputFacets"] = {"dataQualityAssertions": found}
    run = {"parent": facets.parent(_DBT, "dbt", "dbt-test-shop")}
    job = {"jobType": facets.job_type(_DBT, "DBT", "TEST")}
    event = _event(_DBT, "COMPLETE", "shop.core.orders.tests", (run, job), [])
    return event | {"inputs": [table]}


def stream(state: str) -> dict[str, Any]:
    """Return an event of a Flink job: two topics."""
    counts = {"completed": 1_204, "failed": 1, "in_progress": 0, "restored": 1, "total": 1_206}
    run = {"checkpoints": facet(_FLINK, "CheckpointsRunFacet", checkpoints=counts)}
    job = {"jobType": facets.job_type(_FLINK, "FLINK", "JOB", "STREAMING")}
    schema = facets.schema(_FLINK, 8)
    topics = [
        facets.dataset("kafka://broker:9092", name, schema=schema)
        for name in ("clicks.v1", "sessions.v1")
    ]
    return _event(_FLINK, state, "sessions", (run, job), topics)


def owned_job() -> dict[str, Any]:
    """Return a JobEvent: a job without a run."""
    event = _event(_AIRFLOW, "OTHER", "shop_daily", ({}, {}), [])
    del event["eventType"], event["run"], event["inputs"], event["outputs"]
    event["schemaURL"] = event["schemaURL"].replace("RunEvent", "JobEvent")
    place = facet(_AIRFLOW, "SourceCodeLocationJobFacet", type="git", url="git://shop")
    place["version"] = facets.BENCH_RUN_ID
    event["job"]["facets"] = {"sourceCodeLocation": place}
    return event


def _event(
    sender: str,
    state: str,
    name: str,
    parts: tuple[dict[str, Any], dict[str, Any]],
    tables: list[dict[str, Any]],
) -> dict[str, Any]:
    run, job = parts
    return {
        "eventTime": "2026-11-27T09:00:00.123456+00:00",
        "eventType": state,
        "inputs": tables[:1],
        "job": {"facets": job, "name": name, "namespace": sender.rpartition("/")[2]},
        "outputs": tables[1:],
        "producer": sender,
        "run": {"facets": run, "runId": facets.BENCH_RUN_ID},
        "schemaURL": f"{facets.SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def _table(sender: str, layer: str, columns: int) -> dict[str, Any]:
    source = facet(sender, "DatasourceDatasetFacet", name=_WAREHOUSE, uri=_WAREHOUSE)
    text = facet(sender, "DocumentationDatasetFacet", description="Bestellungen, täglich")
    own = {"schema": facets.schema(sender, columns), "dataSource": source, "documentation": text}
    return facets.dataset(_WAREHOUSE, f"shop.{layer}.orders", **own)


def _airflow() -> dict[str, Any]:
    dag = {
        "dag_id": "shop_daily",
        "owner": "shop-team",
        "schedule_interval": "@daily",
        "tags": "[]",
    }
    run = {"run_id": "scheduled__2026-11-27", "run_type": "scheduled", "external_trigger": False}
    names = [f"operator_argument_{number}" for number in range(24)]
    own = {"task_id": "load_orders", "operator_class": "SQLExecuteQueryOperator", "inlets": "[]"}
    instance = {"try_number": 1, "pool": "default_pool", "duration": None, "queue": "default"}
    fields = {"dag": dag, "dagRun": run, "task": own | dict.fromkeys(names, "{'a': [1]}")}
    return facet(_AIRFLOW, "AirflowRunFacet", **fields, taskInstance=instance)
