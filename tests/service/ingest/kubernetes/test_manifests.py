"""SparkApplications as they are read: job, listener, state, owner and datasets."""

import pytest

from lineage.names.keys import NAME_BYTES, key
from lineage.process.clock import instant_text
from service.ingest.kubernetes.manifests import (
    Reading,
    application_row,
    job_name_of,
    outputs_of,
    pod_row,
)
from tests.fakes.kubernetes_watch import spark_pod, submitted
from tests.helm.crds import load_schema

READING = Reading(("lineward.io/owner", "team"), "lineward.io/outputs")
LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"

AT = "2026-11-21T02:10:00Z"


def made(conf: dict[str, str] | None = None, *, config_map: str | None = None, **metadata: object):
    """Return an application with these settings of Spark."""
    found = submitted("orders", **metadata)
    found["spec"] |= {"sparkConf": conf} if conf else {}
    found["spec"] |= {"sparkConfigMap": config_map} if config_map else {}
    return found


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (made(), 0),
        (made({"spark.extraListeners": "com.example.Other"}), 0),
        (made({"spark.extraListeners": f"com.example.Other,{LISTENER}"}), 1),
        (made(config_map="lineward-spark"), 0),
        (made({"spark.extraListeners": LISTENER}, config_map="lineward-spark"), 1),
    ],
)
def test_the_listener_is_found_in_settings_that_the_driver_reads(manifest, expected):
    """Ignore `spec.sparkConfigMap`: the driver does not read the `spark-defaults.conf` in it."""
    assert application_row(manifest, READING, 1)["has_listener"] == expected


@pytest.mark.parametrize(
    ("manifest", "job"),
    [
        (made(), "orders"),
        (made({"spark.app.name": "Daily Orders"}), "daily_orders"),
        (
            made({"spark.app.name": "a", "spark.openlineage.appName": "orders_daily"}),
            "orders_daily",
        ),
        (made(labels={"sparkoperator.k8s.io/scheduled-app-name": "nightly"}), "nightly"),
        (made(annotations={"lineward/rerun-of": "first-orders"}), "first_orders"),
    ],
)
def test_the_job_has_the_name_that_the_listener_gives_it(manifest, job):
    """Name the runs of a schedule and reruns after one job."""
    assert job_name_of(manifest) == job


def test_texts_are_stored_as_any_database_can_hold_them():
    """Cut what an index could not hold, as names of events are, and mark a NUL."""
    conf = {"spark.app.name": "a" * 5_000, "spark.openlineage.namespace": "n\0s"}

    row = application_row(made(conf), READING, 1)

    assert len(row["job_name"].encode()) == NAME_BYTES
    assert row["job_namespace"] == "n\ufffds"


def test_a_failed_application_has_its_message_without_secrets():
    """Show state, times and message in one sentence that begins with the time."""
    manifest = submitted("orders", "FAILED")
    manifest["status"]["applicationState"]["errorMessage"] = (
        "driver container failed with ExitCode: 137,\n Reason: OOMKilled, password=sesame42!"
    )
    manifest["status"]["terminationTime"] = "2026-11-21T02:10:00Z"

    row = application_row(manifest, READING, 1)

    assert row["summary"].startswith(
        "2026-11-21 02:00:05 UTC as SparkApplication jobs/orders without the OpenLineage listener,"
        " which is FAILED, driver container failed with ExitCode: 137, Reason: OOMKilled"
    )
    assert "sesame42" not in row["summary"] + row["problem"]
    assert instant_text(row["ended_at"]) == "2026-11-21 02:10:00 UTC"
    assert row["is_ended"]


def test_an_application_that_was_never_submitted_has_the_time_of_its_creation():
    """Read an object without a status, as the operator finds it."""
    manifest = made()
    manifest["status"] = {}

    row = application_row(manifest, READING, 1)

    assert instant_text(row["submitted_at"]) == "2026-11-21 02:00:00 UTC"
    assert (row["state"], row["is_ended"], row["spark_id"]) == ("NEW", False, None)


def test_owners_come_from_the_first_key_that_annotations_or_labels_have():
    """Prefer an annotation to a label of the same name."""
    both = made(annotations={"team": "shop"}, labels={"team": "web", "lineward.io/owner": "core"})

    assert application_row(both, READING, 1)["owner"] == "core"
    assert (
        application_row(made(annotations={"team": "shop"}, labels={"team": "web"}), READING, 1)[
            "owner"
        ]
        == "shop"
    )
    assert application_row(made(), READING, 1)["owner"] is None


def test_outputs_are_named_one_a_line():
    """Read namespace and name; skip lines that have no name."""
    text = "s3://lake silver/orders\n\n  kafka://b:9092   clicks \nnonsense\n"
    manifest = made(annotations={"lineward.io/outputs": text})

    assert set(outputs_of(manifest, READING)) == {
        key("s3://lake", "silver/orders"),
        key("kafka://b:9092", "clicks"),
    }


def test_the_fake_application_is_valid():
    """Compare the fake's object with the operator's definition."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - as in tests/helm

    schema = load_schema("sparkoperator.k8s.io", "v1beta2", "SparkApplication")
    assert schema is not None

    assert list(Draft202012Validator(schema).iter_errors(submitted("orders"))) == []


def ended(cause: str, code: int, **more: object):
    """Return the status of a pod with a container that ended."""
    terminated = {"reason": cause, "exitCode": code, "finishedAt": AT}
    return {"phase": "Failed", "containerStatuses": [{"state": {"terminated": terminated}}], **more}


_DISRUPTED = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": AT}


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ({"phase": "Running"}, None),
        ({"phase": "Succeeded"}, None),
        (ended("OOMKilled", 137), "OOMKilled"),
        (ended("Error", 137, reason="Evicted", message="low on memory"), "Evicted"),
        (
            {"conditions": [{**_DISRUPTED, "reason": "PreemptionByScheduler"}]},
            "PreemptionByScheduler",
        ),
        ({"conditions": [{**_DISRUPTED, "status": "False", "reason": "x"}]}, None),
        (ended("Error", 1), "exit code 1"),
        (
            {
                "containerStatuses": [
                    {"lastState": ended("OOMKilled", 137)["containerStatuses"][0]["state"]}
                ]
            },
            "OOMKilled",
        ),
    ],
)
def test_the_cause_is_that_of_the_kubelet(status, cause):
    """Name memory, eviction and preemption before an exit code."""
    row = pod_row(spark_pod("orders-exec-1", **status), 7)

    assert (row and row["cause"]) == cause


def test_an_executor_that_spark_deleted_is_not_lost():
    """Skip the exit code of a pod that was deleted; not that it ran out of memory."""
    pod = spark_pod("orders-exec-1", **ended("Error", 143))
    pod["metadata"]["deletionTimestamp"] = AT
    killed = spark_pod("orders-exec-2", **ended("OOMKilled", 137))
    killed["metadata"]["deletionTimestamp"] = AT

    assert pod_row(pod, 7) is None
    row = pod_row(killed, 7)
    assert row is not None
    assert (row["spark_id"], instant_text(row["failed_at"])) == (
        "spark-1",
        "2026-11-21 02:10:00 UTC",
    )


def test_a_pod_of_something_else_is_not_read():
    """Skip a pod without Spark's label."""
    pod = spark_pod("other", **ended("OOMKilled", 137))
    del pod["metadata"]["labels"]["spark-app-selector"]

    assert pod_row(pod, 7) is None
