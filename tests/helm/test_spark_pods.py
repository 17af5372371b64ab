"""Check the pods that Spark itself makes of the chart's templates.

Not in the group `helm`: any worker of pytest that has a Spark may run it.
"""

import pytest

from tests.helm.charts import Manifest, find
from tests.helm.restricted import find_violations
from tests.helm.schemas import find_template_errors
from tests.helm.spark_pods import SparkPods


@pytest.fixture
def pods(spark, tmp_path):
    """Return the pods of the SparkApplication with everything on."""
    return SparkPods(spark, find("scaled", "SparkApplication"), tmp_path)


def _find_lost_labels(pod: Manifest, part: str) -> list[tuple[str, str]]:
    """Return the labels of the template that the pod does not have: policies select by them."""
    wanted = find("scaled", "SparkApplication")["spec"][part]["template"]["metadata"]["labels"]
    return sorted(set(wanted.items()) - set(pod["metadata"]["labels"].items()))


def _find_local_volumes(pod: Manifest) -> set[str]:
    """Return the volumes that the annotation for the cluster autoscaler has to name."""
    return {one["name"] for one in pod["spec"]["volumes"] if "emptyDir" in one}


def test_the_driver_keeps_what_its_template_says(pods):
    """Check admission, account, probe and ports of the pod, and what Spark makes beside it."""
    pod, beside = pods.driver()
    (container,) = pod["spec"]["containers"]

    assert find_violations(pod["spec"]) == ["the token of the ServiceAccount is mounted"]
    assert find_template_errors({"metadata": pod["metadata"], "spec": pod["spec"]}, "1.37") == []
    assert pod["spec"]["serviceAccountName"] == "lineward-pipeline"
    assert _find_lost_labels(pod, "driver") == []
    assert _find_local_volumes(pod) == {"data", "tmp", "passwd", "spark-local-dir-1"}
    assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert (ports["driver-rpc-port"], ports["blockmanager"]) == (7078, 7079)
    assert container["args"][-1] == "local:///opt/lineward/spark/pipeline.py"
    assert container["resources"]["limits"]["memory"] == "4096Mi"
    # Spark's own NetworkPolicy is left out.
    assert set(beside) == {"Service", "ConfigMap"}


def test_executors_find_a_driver_that_is_not_ready(pods):
    """Keep the name of the driver while a part of the pipeline fails: new executors look it up."""
    _, beside = pods.driver()

    assert beside["Service"]["spec"]["publishNotReadyAddresses"] is True


def test_executors_keep_what_their_template_says(pods):
    """Check admission, account, scheduling and port of an executor."""
    pod = pods.executor()
    (container,) = pod["spec"]["containers"]

    assert find_violations(pod["spec"]) == []
    assert find_template_errors({"metadata": pod["metadata"], "spec": pod["spec"]}, "1.37") == []
    assert pod["spec"]["serviceAccountName"] == "lineward-executor"
    assert pod["spec"]["nodeSelector"]["kubernetes.io/os"] == "linux"
    assert _find_lost_labels(pod, "executor") == []
    assert _find_local_volumes(pod) == {"data", "tmp", "passwd", "spark-local-dir-1"}
    assert {one["name"]: one["containerPort"] for one in container["ports"]}["blockmanager"] == 7079
    assert "/etc/lineward/keys" in {one["mountPath"] for one in container["volumeMounts"]}
