"""Events in the shapes of clients without Spark: Flink, Debezium, Kafka Connect and Argo.

Each function returns the events of one run, as that client's public source or documentation has it.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

Event = dict[str, Any]
Dataset = dict[str, Any]
KAFKA = "kafka://kafka:9092"
POSTGRES = "postgres://db:5432"
LAKE = "s3://lake"


def dataset(namespace: str, name: str, **facets: Any) -> Dataset:  # noqa: ANN401
    """Return a dataset as an input or output of an event."""
    return {"namespace": namespace, "name": name, "facets": facets}


def debezium(at: Callable[..., datetime], tables: Sequence[str]) -> Iterator[Event]:
    """Start a connector, which names one table or topic an event; its task fails and is restarted.

    Debezium 3.2: the job is `topic.prefix` and the task; COMPLETE comes once it is stopped.
    """
    job = _job("shop", "shop.0", "STREAMING", "DEBEZIUM", "TASK")
    job["facets"]["tags"] = {"tags": [{"key": "env", "value": "prod", "source": "CONFIG"}]}
    job["facets"]["ownership"] = {"owners": [{"name": "cdc-team", "type": "Maintainer"}]}
    job["facets"]["documentation"] = {"description": "Changes of the shop"}
    engine = {"processing_engine": {"name": "Debezium", "version": "3.2.0.Final"}}
    yield _event("START", at(7), "dbz-1", job, engine)
    for minute, table in enumerate(tables, start=1):
        schema = {"fields": [{"name": "id", "type": "int4"}]}
        source = dataset(POSTGRES, f"shop.public.{table}", schema=schema)
        yield _event("RUNNING", at(7, minute), "dbz-1", job, engine, inputs=[source])
    for minute, table in enumerate(tables, start=20):
        topic = dataset(KAFKA, f"shop.public.{table}", datasetType={"datasetType": "TOPIC"})
        yield _event("RUNNING", at(7, minute), "dbz-1", job, engine, outputs=[topic])
    error = {"errorMessage": {"message": "connection reset", "programmingLanguage": "Java"}}
    yield _event("FAIL", at(7, 40), "dbz-1", job, {**engine, **error})


def kafka_connect(at: Callable[..., datetime]) -> Iterator[Event]:
    """Run a sink of two topics: its first record sends RUNNING; there is no START."""
    job = _job("connect", "lake-sink", "STREAMING", "KAFKA_CONNECT", "CUSTOM_CONNECTOR_TASK")
    topics = ("shop.public.orders", "shop.public.customers")
    yield _event(
        "RUNNING",
        at(8),
        "sink-1",
        job,
        inputs=[dataset(KAFKA, topic) for topic in topics],
        outputs=[dataset(LAKE, topic) for topic in topics],
    )


def flink_1(at: Callable[..., datetime]) -> Iterator[Event]:
    """Run a streaming job of Flink 1, whose checkpoints name its datasets again."""
    job = _job("flink", "enrich", "STREAMING", "FLINK", "JOB")
    touched = {
        "inputs": [dataset(KAFKA, "shop.public.orders")],
        "outputs": [dataset(KAFKA, "orders.enriched")],
    }
    yield _event("START", at(8), "f1", job, _FLINK_1, **touched)
    yield _event("RUNNING", at(8, 30), "f1", job, {**_FLINK_1, **_CHECKPOINT}, **touched)


def flink_2(
    at: Callable[..., datetime], name: str, topics: tuple[str, str], checkpoints: Sequence[datetime]
) -> Iterator[Event]:
    """Run a statement of Flink SQL 2, whose START alone names datasets and the kind of its job."""
    run = f"f2-{name}"
    source, sink = (
        dataset(KAFKA, topic, symlinks={"identifiers": [_session_table(table)]})
        for topic, table in zip(topics, ("source", "sink"), strict=True)
    )
    job = _job("flink-jobs", name, "STREAMING", "FLINK", "JOB")
    bare = {"namespace": "flink-jobs", "name": name}
    yield _event("START", at(8), run, job, _FLINK_2, inputs=[source], outputs=[sink])
    for time in checkpoints:
        yield _event("RUNNING", time, run, bare, {**_FLINK_2, **_CHECKPOINT})


def argo(at: Callable[..., datetime]) -> Iterator[Event]:
    """Run a workflow of two steps, one of which fails; its steps name the workflow as parent.

    Argo Workflows has no client of its own: a step's program sends events with a parent facet.
    """
    workflow = _job("argo", "nightly", "BATCH", "ARGO_WORKFLOWS", "WORKFLOW")
    parent = {"run": {"runId": "wf-1"}, "job": {"namespace": "argo", "name": "nightly"}}
    above = {"parent": {**parent, "root": parent}}
    yield _event("START", at(9), "wf-1", workflow)
    for run, step, end in (("s-1", "extract", "COMPLETE"), ("s-2", "publish", "FAIL")):
        job = _job("argo", f"nightly.{step}", "BATCH", "ARGO_WORKFLOWS", "TASK")
        job["facets"]["ownership"] = {"owners": [{"name": f"{step}-team"}]}
        touched = {
            "inputs": [dataset(LAKE, "shop.public.orders")],
            "outputs": [dataset(LAKE, f"mart/{step}")],
        }
        error = {"errorMessage": {"message": "exit code 137"}} if end == "FAIL" else {}
        yield _event("START", at(9, 1), run, job, above, **touched)
        yield _event(end, at(9, 5), run, job, {**above, **error}, **touched)
    yield _event("FAIL", at(9, 6), "wf-1", workflow)


def _job(namespace: str, name: str, *kind: str) -> Event:
    names = ("processingType", "integration", "jobType")
    facet = dict(zip(names, kind, strict=True))
    return {"namespace": namespace, "name": name, "facets": {"jobType": facet}}


def _session_table(table: str) -> dict[str, str]:
    return {"namespace": "flink://", "name": f"default_database.{table}", "type": "TABLE"}


def _engine(version: str) -> dict[str, Any]:
    engine = {"name": "flink", "version": version, "openlineageAdapterVersion": "1.40.0"}
    return {"processing_engine": engine, "flink_job": {"jobId": "c1ff"}}


_FLINK_1, _FLINK_2 = _engine("1.20.1"), _engine("2.1.0")
_CHECKPOINT = {"checkpoints": {"completed": 3, "failed": 0, "in_progress": 0, "total": 3}}


def _event(  # noqa: PLR0913 - the parts of an event
    kind: str,
    at: datetime,
    run: str,
    job: Event,
    facets: dict[str, Any] | None = None,
    *,
    inputs: Sequence[Dataset] = (),
    outputs: Sequence[Dataset] = (),
) -> Event:
    return {
        "eventType": kind,
        "eventTime": at.isoformat(),
        "producer": "https://example.test/producer",
        "run": {"runId": run, "facets": facets or {}},
        "job": job,
        "inputs": list(inputs),
        "outputs": list(outputs),
    }
