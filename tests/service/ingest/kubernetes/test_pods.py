"""Causes for which a pod of Spark was lost."""

import pytest

from lineage.process.clock import instant_text
from service.ingest.kubernetes.pods import row_of
from tests.fakes.kubernetes_watch import spark_pod

AT = "2026-11-21T02:10:00Z"


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
    row = row_of(spark_pod("orders-exec-1", **status), 7)

    assert (row and row["cause"]) == cause


def test_an_executor_that_spark_deleted_is_not_lost():
    """Skip the exit code of a pod that was deleted; not that it ran out of memory."""
    pod = spark_pod("orders-exec-1", **ended("Error", 143))
    pod["metadata"]["deletionTimestamp"] = AT
    killed = spark_pod("orders-exec-2", **ended("OOMKilled", 137))
    killed["metadata"]["deletionTimestamp"] = AT

    assert row_of(pod, 7) is None
    row = row_of(killed, 7)
    assert row is not None
    assert (row["spark_id"], instant_text(row["failed_at"])) == (
        "spark-1",
        "2026-11-21 02:10:00 UTC",
    )


def test_a_pod_of_something_else_is_not_read():
    """Skip a pod without Spark's label."""
    pod = spark_pod("other", **ended("OOMKilled", 137))
    del pod["metadata"]["labels"]["spark-app-selector"]

    assert row_of(pod, 7) is None
