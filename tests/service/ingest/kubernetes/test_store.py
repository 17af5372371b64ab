"""Stored applications: the last submission of each job is the newest, on either database."""

import pytest
from sqlalchemy import insert, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import ListenerState
from service.ingest.kubernetes.connection import Resource
from service.ingest.kubernetes.manifests import LISTENER, Reading
from service.ingest.kubernetes.manifests import WITHOUT_LISTENER as LISTENER_WORDS
from service.ingest.kubernetes.store import ApplicationStore, PodStore, forget_others
from tests.fakes.kubernetes_watch import spark_pod, submitted
from tests.service import shop

READING = Reading(("lineward.io/owner",), "lineward.io/outputs")
JOBS = Resource("sparkapplications.sparkoperator.k8s.io", "jobs")


def run_of(name: str, job: str, minute: int, **more: object):
    """Return an application of a job, submitted in this minute."""
    found = submitted(name, **more)
    found["spec"]["sparkConf"] = {"spark.app.name": job}
    found["status"]["lastSubmissionAttemptTime"] = f"2026-11-21T02:{minute:02}:00Z"
    return found


def newest(engine) -> set[str]:
    """Return the names of the newest applications."""
    table = tables.spark_application
    with engine.connect() as connection:
        return set(connection.scalars(select(table.c.name).where(table.c.is_newest)))


def test_the_last_submission_of_each_job_is_the_newest(catalog):
    """Take them in any order, and one that is submitted again."""
    store = ApplicationStore(catalog, JOBS, READING)
    store.store([run_of("a-2", "a", 2), run_of("a-1", "a", 1), run_of("b-1", "b", 1)], 1)
    assert newest(catalog) == {"a-2", "b-1"}
    store.store([run_of("a-1", "a", 3)], 2)
    assert newest(catalog) == {"a-1", "b-1"}

    store.store([run_of("a-0", "a", 0)], 3)

    assert newest(catalog) == {"a-1", "b-1"}


@pytest.mark.postgres_nightly
def test_events_show_a_listener_that_the_settings_do_not(catalog):
    """Inherit it from the last runs of a job, and see that it was taken out of the settings."""
    store = ApplicationStore(catalog, JOBS, READING)
    listed = run_of("removed-1", "removed", 1)
    listed["spec"]["sparkConf"]["spark.extraListeners"] = LISTENER
    first = [run_of(f"{job}-1", job, 1) for job in ("image", "none", "logs")]
    with write_transaction(catalog) as connection:
        runs = [_run(1, "image-1"), _run(2, "removed-1"), _run(3, "logs-1", evidence="alone")]
        connection.execute(insert(tables.run), runs)
    store.store([listed, *first], 1)
    store.store([run_of(f"{job}-2", job, 2) for job in ("image", "none", "logs", "removed")], 2)

    table = tables.spark_application
    with catalog.connect() as connection:
        found = connection.execute(select(table.c.name, table.c.has_listener, table.c.summary))
        listeners = {name: (has, LISTENER_WORDS in summary) for name, has, summary in found}
    assert listeners == {
        **dict.fromkeys(("image-1", "image-2"), (ListenerState.BY_EVENTS, False)),
        **dict.fromkeys(("none-1", "none-2", "logs-1", "logs-2", "removed-2"), (0, True)),
        "removed-1": (1, False),
    }


def _run(number: int, name: str, evidence: str | None = None):
    """Return a run of this application."""
    application = {"run_key": number, "application_id": f"spark-{name}", "evidence": evidence}
    return shop.run_row() | application


def test_outputs_are_those_of_the_last_manifest(embedded):
    """Replace what an annotation named before."""
    store = ApplicationStore(embedded, JOBS, READING)
    notes = {"annotations": {"lineward.io/outputs": "s3://lake orders\ns3://lake rates"}}
    store.store([run_of("a", "a", 1, **notes)], 1)
    store.store([run_of("a", "a", 1, annotations={"lineward.io/outputs": "s3://lake rates"})], 2)

    with embedded.connect() as connection:
        assert len(connection.execute(select(tables.spark_output)).all()) == 1


def test_a_pod_that_fails_is_stored_and_one_that_works_is_not(embedded):
    """Keep the row when the pod is deleted."""
    store = PodStore(embedded, Resource("pods", "jobs"))
    status = {"reason": "Evicted", "message": "The node was low on resource: memory."}
    store.store([spark_pod("works", phase="Running"), spark_pod("evicted", **status)], 5)
    store.end_list(6)

    with embedded.connect() as connection:
        [row] = connection.execute(select(tables.spark_pod_failure)).all()
    assert (row.pod, row.cause, row.spark_id, row.failed_at) == ("evicted", "Evicted", "spark-1", 5)


def test_watches_that_are_not_configured_any_more_are_forgotten(embedded):
    """Delete the row of another namespace, whose applications are not shown any more."""
    for namespace in ("jobs", "old"):
        store = ApplicationStore(embedded, Resource(JOBS.name, namespace), READING)
        store.store([run_of(namespace, namespace, 1) | _in(namespace)], 1)
        store.end_list(1)

    forget_others(embedded, [JOBS], 5)

    with embedded.connect() as connection:
        rows = connection.scalars(select(tables.kubernetes_watch.c.kube_namespace)).all()
    assert rows == ["jobs"]
    assert newest(embedded) == {"jobs"}


def _in(namespace: str) -> dict[str, object]:
    """Return the metadata of an object of this namespace."""
    return {"metadata": {"name": namespace, "namespace": namespace, "uid": f"uid-{namespace}"}}
