"""Comparison of a job's failed run, made before its incident opens."""

import msgspec
import pytest
from sqlalchemy import insert, select

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, write_transaction
from service.incidents.diagnosis.diagnose import Diagnostician
from service.incidents.diagnosis.ranking import Diagnosis
from tests.alerts.detection.conftest import DetectorHarness

NOON = 12 * 3600


@pytest.fixture
def watched(embedded):
    """Return a catalog of one kind: other tests run the queries on both."""
    return DetectorHarness(embedded)


def _diagnosis(watched):
    with watched.engine.connect() as connection:
        text = connection.scalar(select(tables.incident.c.diagnosis))
    return None if text is None else msgspec.json.decode(text, type=Diagnosis)


def test_differences_are_known_before_the_notification(watched, tmp_path):
    """Find the version of the engine and the error."""
    watched.estate.add("raw")
    watched.estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    watched.at(NOON)
    watched.estate.fail("raw", NOON + 60, engine_version="4.3.1")
    watched.estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 90.0)
    assert watched.at(NOON + 120) == []
    Diagnostician(catalog_url(tmp_path))(watched.engine)

    found = _diagnosis(watched)
    assert found.first == "engine_version: 4.2.0 -> 4.3.1"
    assert found.error_message == "boom"


def test_a_job_that_is_silent_has_nothing_to_compare(watched, tmp_path):
    """Store that there is nothing, so that it is not compared again each second."""
    watched.estate.add("raw")
    watched.at(NOON)
    watched.estate.say("raw", "bad", "silent", limit_seconds=NOON + 90.0)
    watched.at(NOON + 120)
    Diagnostician(catalog_url(tmp_path))(watched.engine)

    assert _diagnosis(watched) == Diagnosis()


def test_killed_executors_come_before_a_new_version(watched, tmp_path):
    """Name what Kubernetes reports of the failed run's application, and of the good one's."""
    watched.estate.add("raw")
    watched.estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    watched.at(NOON)
    fields = {"engine_version": "4.3.1", "application_id": "spark-2"}
    watched.estate.fail("raw", NOON + 60, **fields)
    pods = [
        {
            "uid": str(number),
            "pod": f"raw-exec-{number}",
            "cause": "OOMKilled",
            "spark_id": spark_id,
        }
        for number, spark_id in enumerate(["spark-2", "spark-2", "spark-other"])
    ]
    more = {"kube_namespace": "jobs", "role": "executor", "failed_at": 1, "detail": None}
    with write_transaction(watched.engine) as connection:
        connection.execute(insert(tables.spark_pod_failure), [pod | more for pod in pods])
    watched.estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 90.0)
    watched.at(NOON + 120)
    Diagnostician(catalog_url(tmp_path))(watched.engine)

    found = _diagnosis(watched)
    assert found.first == "lost pods: 2 executors OOMKilled (raw-exec-0)"
    assert found.differences[1].words == "engine_version: 4.2.0 -> 4.3.1"
