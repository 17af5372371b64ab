"""Check scaled mode for what users of such charts complain of.

The profile `restricted`, hooks, `.Capabilities`, closed schemas, labels of monitors and sizes of
dashboards are checked for every values file in the other modules of this folder.
"""

import json
import zipfile
from pathlib import Path

import pyspark
import pytest

from lineage.input_log.settings import LogSettings
from slis.spark.session_settings import JVM
from tests.helm.charts import (
    each_scaled,
    env_of,
    find,
    find_all,
    list_containers,
    list_pods,
    read_notes,
    render,
)

pytestmark = pytest.mark.xdist_group("helm")
_SPARK = ("spark-kubernetes-driver", "spark-kubernetes-executor")


@each_scaled
def test_a_read_only_root_has_folders_to_write_to(name):
    """Check that `/tmp`, the data folder and the passwd file are mounted in each container."""
    for kind, pod in list_pods(name):
        if kind == "Pod":
            continue
        for container in list_containers(pod):
            mounts = {one["mountPath"]: one for one in container["volumeMounts"]}
            assert not mounts["/tmp"].get("readOnly")  # noqa: S108 - a path in a container
            if container["name"] != "passwd":
                assert not mounts["/var/lib/lineward"].get("readOnly")
                assert mounts["/etc/passwd"]["subPath"] == "passwd"


def test_the_webhook_of_the_operator_is_not_needed():
    """Check that driver and executors have templates, and beside them only what Spark computes."""
    spec = find("scaled", "SparkApplication")["spec"]
    size = {"cores", "memory", "memoryOverhead", "template", "labels", "serviceAccount"}

    assert set(spec["driver"]) == size | {"javaOptions"}
    assert set(spec["executor"]) == size | {"instances"}
    assert {"volumes", "nodeSelector", "monitoring"}.isdisjoint(spec)
    for part, name in zip(("driver", "executor"), _SPARK, strict=True):
        (container,) = spec[part]["template"]["spec"]["containers"]
        assert container["name"] == name
        assert spec["sparkConf"][f"spark.kubernetes.{part}.podTemplateContainerName"] == name


def test_the_jvm_of_the_driver_has_the_options_of_the_pipeline():
    """Check that a driver under spark-submit spends no more on its JIT than an embedded one."""
    assert find("scaled", "SparkApplication")["spec"]["driver"]["javaOptions"] == " ".join(JVM)


@each_scaled
def test_pods_spread_over_nodes_and_zones(name):
    """Check for two constraints, each of which counts the pods of one component."""
    for kind, pod in list_pods(name):
        if kind == "Pod":
            continue
        constraints = pod["spec"]["topologySpreadConstraints"]
        keys = [one["topologyKey"] for one in constraints]
        assert keys == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        for one in constraints:
            assert "app.kubernetes.io/component" in one["labelSelector"]["matchLabels"]


def test_notes_say_which_namespace_the_operator_must_watch():
    """Read the notes: the operator never submits an application of another namespace."""
    notes = read_notes("scaled")

    assert "does not watch the namespace data" in notes
    assert "spark.jobNamespaces" in notes


def test_a_driver_that_is_lost_starts_again():
    """Check the restart policy, and that nothing deletes the application."""
    spec = find("scaled", "SparkApplication")["spec"]

    assert spec["restartPolicy"]["type"] == "Always"
    assert "timeToLiveSeconds" not in spec
    assert find("scaled-deployment", "Deployment", "pipeline")["spec"]["strategy"] == {
        "type": "Recreate"
    }


def test_spark_fetches_nothing():
    """Check that all jars come from the image: `local://`, and no packages."""
    spec = find("scaled", "SparkApplication")["spec"]

    assert spec["mainApplicationFile"] == "local:///opt/lineward/spark/pipeline.py"
    assert "deps" not in spec
    assert not [key for key in spec["sparkConf"] if "jars" in key or "files" in key]
    assert spec["sparkVersion"] == pyspark.__version__


def test_ports_of_spark_are_those_of_the_network_policies():
    """Compare Spark's ports with the policies, and the step to leave out with Spark's classes."""
    conf = find("scaled", "SparkApplication")["spec"]["sparkConf"]
    driver = find("scaled", "NetworkPolicy", "-pipeline")["spec"]["ingress"]
    executor = find("scaled", "NetworkPolicy", "-executor")["spec"]["ingress"]

    def ports(rules):
        return [str(port["port"]) for rule in rules for port in rule["ports"]]

    assert ports(driver) == [conf["spark.driver.port"], conf["spark.driver.blockManager.port"]]
    assert ports(executor) == [conf["spark.blockManager.port"]]
    step = conf["spark.kubernetes.driver.pod.excludedFeatureSteps"].replace(".", "/") + ".class"
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-kubernetes_*.jar")
    assert step in zipfile.ZipFile(jar).namelist()


def test_a_changed_policy_restarts_no_driver():
    """Render another policy: pods read it by themselves, and a driver takes a minute to start."""
    text = "policy.inline=access: {tokens: []}"
    (after,) = [
        one for one in render("scaled", "--set-string", text) if one["kind"] == "SparkApplication"
    ]

    assert after == find("scaled", "SparkApplication")


def test_no_secret_is_in_the_configuration_of_spark():
    """Check that settings of Spark name no Secret, file or URL: the operator logs them."""
    conf = json.dumps(find("scaled", "SparkApplication")["spec"]["sparkConf"])

    assert not [word for word in ("lineward-", "/etc/", "://", "secret") if word in conf]


@each_scaled
def test_budgets_let_a_drain_go_on(name):
    """Check that each budget lets one pod go, and pods that are not ready.

    `maxUnavailable` needs a controller with a number of replicas, which a driver does not have.
    """
    budgets = find_all(name, "PodDisruptionBudget")
    assert len(budgets) == (3 if name == "scaled" else 2)
    for one in budgets:
        spec = one["spec"]
        is_driver = spec["selector"]["matchLabels"]["app.kubernetes.io/component"] == "pipeline"
        wanted = {"minAvailable": 0} if is_driver and name == "scaled" else {"maxUnavailable": 1}
        assert {key: spec[key] for key in spec if key.endswith("vailable")} == wanted
        assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_the_budget_of_the_pipeline_counts_no_executor():
    """Compare its selector with the labels that the operator gives to both kinds of pods."""
    application = find("scaled", "SparkApplication")
    wanted = find("scaled", "PodDisruptionBudget", "-pipeline")["spec"]["selector"]["matchLabels"]
    counted = [
        part
        for part in ("driver", "executor")
        if wanted.items()
        <= (application["metadata"]["labels"] | application["spec"][part]["labels"]).items()
    ]

    assert counted == ["driver"]


@each_scaled
def test_a_collector_that_ends_still_answers(name):
    """Check the end of a collector: it answers first, ships last, and keeps its volume."""
    spec = find(name, "StatefulSet")["spec"]
    pod = spec["template"]["spec"]
    (collector,) = pod["containers"]
    (shipper,) = [one for one in pod["initContainers"] if one["name"] == "shipper"]

    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    }
    # A sidecar ends after the containers: it ships what the collector has stored last.
    assert shipper["restartPolicy"] == "Always"
    assert shipper["ports"] == [{"name": "shipper", "containerPort": LogSettings().port}]
    # Collectors store events while Kafka is away.
    assert "readinessProbe" not in shipper
    # The collector itself waits, and closes connections meanwhile.
    assert "lifecycle" not in collector
    seconds = int(env_of(collector)["LINEWARD_COLLECTOR_DRAIN_SECONDS"])
    assert seconds == 10
    assert pod["terminationGracePeriodSeconds"] > seconds + 30 + 20
    assert "LINEWARD_COLLECTOR_DRAIN_SECONDS" not in env_of(shipper)
    data = [one for one in collector["volumeMounts"] if one["name"] == "data"]
    assert data == [one for one in shipper["volumeMounts"] if one["name"] == "data"]
    assert spec["podManagementPolicy"] == "Parallel"


def test_the_autoscaler_alone_sets_the_number_of_replicas():
    """Check that a StatefulSet with an autoscaler names no number of replicas."""
    target = find("scaled", "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]

    assert target["name"] == find("scaled", "StatefulSet")["metadata"]["name"]
    assert "replicas" not in find("scaled", "StatefulSet")["spec"]
    assert find("scaled-deployment", "StatefulSet")["spec"]["replicas"] == 2
    assert find_all("scaled-deployment", "HorizontalPodAutoscaler") == []


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ("host=0.0.0.0", None),
        ("host=::", "IPv6"),
        ("host=::,services.ipFamilies={IPv4,IPv6}", "IPv4"),
        ("host=::,services.ipFamilies={IPv6,IPv4}", "IPv6"),
    ],
)
def test_the_service_of_the_driver_has_the_first_family_of_the_pods(values, family):
    """Compare with the setting: a cluster with IPv6 only rejects a Service with IPv4."""
    (application,) = [
        one for one in render("scaled", "--set", values) if one["kind"] == "SparkApplication"
    ]
    setting = "spark.kubernetes.driver.service.ipFamilies"

    assert application["spec"]["sparkConf"].get(setting) == family
