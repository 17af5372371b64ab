"""Check the pods of the chart: admission, mounts, and Lineward's settings."""

import copy
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from service.runtime.container import __main__ as container_entrypoint
from tests.helm.charts import (
    Manifest,
    each_values_file,
    find,
    find_all,
    list_containers,
    list_pods,
    render,
    values_path,
)
from tests.helm.restricted import OF_SPARK, find_violations

pytestmark = pytest.mark.xdist_group("helm")


@each_values_file
def test_pods_pass_the_restricted_profile(name):
    """Check every pod for Pod Security `restricted`, a read-only root and no API token."""
    for kind, pod in list_pods(name):
        assert find_violations(pod["spec"]) == OF_SPARK.get(kind, []), kind


def _set(*path: str, value: object) -> Callable[[Manifest], None]:
    def change(spec: Manifest) -> None:
        part: Any = spec
        for step in path[:-1]:
            part = part[0][step] if isinstance(part, list) else part[step]
        (part[0] if isinstance(part, list) else part)[path[-1]] = value

    return change


_CONTAINER = ("containers", "securityContext")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_set("hostNetwork", value=True), "hostNetwork is true"),
        (_set("automountServiceAccountToken", value=True), "token of the ServiceAccount"),
        (_set("enableServiceLinks", value=True), "enableServiceLinks is on"),
        (_set("volumes", value=[{"name": "x", "hostPath": {}}]), "volume x is a hostPath"),
        (_set("volumes", value=[{"name": "x", "emptyDir": {}}]), "no container mounts: ['x']"),
        (_set("securityContext", "runAsNonRoot", value=False), "runAsNonRoot is not true"),
        (_set("securityContext", "seccompProfile", value={}), "no seccompProfile"),
        (_set(*_CONTAINER, "runAsUser", value=0), "runAsUser is 0"),
        (_set(*_CONTAINER, "privileged", value=True), "lineward: privileged"),
        (_set(*_CONTAINER, "allowPrivilegeEscalation", value=True), "allowPrivilegeEscalation"),
        (_set(*_CONTAINER, "capabilities", value={"drop": []}), "are not dropped"),
        (_set(*_CONTAINER, "capabilities", "add", value=["SYS_ADMIN"]), "capabilities are added"),
        (_set(*_CONTAINER, "readOnlyRootFilesystem", value=False), "root file system is writable"),
        (_set("containers", "resources", value={}), "no requests"),
        (_set("containers", "ports", value=[{"hostPort": 8700}]), "hostPort is set"),
    ],
)
def test_the_checker_sees_each_violation(change, text):
    """Break one rule: a checker that sees nothing would pass every pod."""
    spec = copy.deepcopy(find("embedded", "StatefulSet")["spec"]["template"]["spec"])
    change(spec)

    assert any(text in found for found in find_violations(spec))


_EVICTABLE = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"


@each_values_file
def test_the_cluster_autoscaler_may_remove_the_nodes_of_pods(name):
    """Compare the annotation with the volumes: one that is not named there keeps the node."""
    for kind, pod in list_pods(name):
        if kind != "Pod":
            local = {one["name"] for one in pod["spec"]["volumes"] if "emptyDir" in one}
            if kind.startswith("Spark"):
                local.add("spark-local-dir-1")
            assert set(pod["metadata"]["annotations"][_EVICTABLE].split(",")) == local, kind


# Roles that upgrade the catalog before their port answers.
_MIGRATING = {"embedded", "pipeline", "marquez", "kubernetes"}


@each_values_file
def test_startup_probes_wait_for_a_long_upgrade_of_the_catalog(name):
    """Check for 15 minutes: an upgrade that a probe interrupts would begin again without end."""
    for kind, pod in list_pods(name):
        if pod["metadata"]["labels"]["app.kubernetes.io/component"] in _MIGRATING:
            probe = pod["spec"]["containers"][0]["startupProbe"]
            assert probe["periodSeconds"] * probe["failureThreshold"] >= 900, kind


@pytest.mark.parametrize("name", ["openshift", "scaled-openshift"])
def test_no_uid_is_fixed(name):
    """Search for uid and fsGroup: OpenShift rejects a pod that sets them."""
    text = json.dumps([pod["spec"] for _, pod in list_pods(name)])

    assert "runAsUser" not in text
    assert "fsGroup" not in text


def test_any_uid_has_a_name(tmp_path):
    """Run the first container's arguments: Spark does not start as a user without a name."""
    spec = find("full", "StatefulSet")["spec"]["template"]["spec"]
    (first,), (main, *_) = spec["initContainers"], spec["containers"]
    (made,) = [one for one in first["volumeMounts"] if one["name"] == "passwd"]
    (used,) = [one for one in main["volumeMounts"] if one["name"] == "passwd"]
    command, path = first["args"]

    assert spec["securityContext"]["runAsUser"] == 1_000_680_000
    assert (command, path) == ("passwd", f"{made['mountPath']}/{used['subPath']}")
    assert used["mountPath"] == "/etc/passwd"
    assert container_entrypoint.main([command, str(tmp_path / "passwd")]) == 0
    assert f":{os.getuid()}:" in (tmp_path / "passwd").read_text()


@each_values_file
def test_each_spread_counts_pods_of_its_own(name):
    """Compare selectors of spread constraints with the pod: one without a selector counts none."""
    for kind, pod in list_pods(name):
        for one in pod["spec"].get("topologySpreadConstraints", []):
            selected = one["labelSelector"]["matchLabels"].items()
            assert selected <= pod["metadata"]["labels"].items(), kind


def test_values_of_the_pod_reach_it():
    """Compare scheduling, resources, volumes, environment and labels with the values."""
    values = yaml.safe_load(values_path("full").read_text())
    wanted = values["embedded"]
    pod = find("full", "StatefulSet")["spec"]["template"]
    spec, (container, *others) = pod["spec"], pod["spec"]["containers"]
    scheduling = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")

    for field in (*scheduling, "priorityClassName"):
        assert spec[field] == wanted[field]
    assert container["resources"] == wanted["resources"]
    assert container["env"][-1:] == wanted["extraEnv"]
    assert container["envFrom"] == wanted["extraEnvFrom"]
    assert container["volumeMounts"][-1:] == wanted["extraVolumeMounts"]
    assert spec["volumes"][-1:] == wanted["extraVolumes"]
    assert others == wanted["extraContainers"]
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    assert container["image"] == f"registry.example.com/lineward@{values['image']['digest']}"
    assert wanted["podAnnotations"].items() <= pod["metadata"]["annotations"].items()
    labels = wanted["podLabels"] | values["commonLabels"]
    assert labels.items() <= pod["metadata"]["labels"].items()
    env = {one["name"]: one.get("value") for one in container["env"]}
    assert env["LINEWARD_PIPELINE_DRIVER_MEMORY"] == "2g"
    assert env["LINEWARD_COLLECTOR_KEEP_SECONDS"] == "7200.5"
    assert env["LINEWARD_COLLECTOR_MAX_SPOOL_BYTES"] == "21474836480"


@each_values_file
def test_pods_run_on_nodes_with_linux(name):
    """Check each pod: the image is built for Linux."""
    for kind, pod in list_pods(name):
        assert pod["spec"]["nodeSelector"]["kubernetes.io/os"] == "linux", kind


def test_the_pod_of_helm_test_runs_on_the_same_nodes():
    """Compare with the embedded pod, on nodes that nothing without a toleration runs on."""
    test = find("full", "Pod")["spec"]
    spec = find("full", "StatefulSet")["spec"]["template"]["spec"]

    assert test["tolerations"] == spec["tolerations"] == [{"key": "data", "operator": "Exists"}]
    assert test["nodeSelector"] == spec["nodeSelector"]


_GLOBAL = "global.imageRegistry=mirror.example.com,global.imagePullSecrets[0].name=b"


@pytest.mark.parametrize("name", ["embedded", "scaled-deployment"])
def test_a_parent_chart_sets_registry_and_secrets_for_all_pods(name):
    """Give both as charts of others do; Secrets by name alone or as objects."""
    objects = render(
        name, "--set", f"{_GLOBAL},global.imagePullSecrets[1]=a,image.pullSecrets={{c}}"
    )
    pods = [
        one["spec"] if one["kind"] == "Pod" else one["spec"]["template"]["spec"]
        for one in objects
        if one["kind"] in {"Pod", "StatefulSet", "Deployment"}
    ]

    for spec in pods:
        assert [one["name"] for one in spec["imagePullSecrets"]] == ["c", "b", "a"]
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            assert container["image"].startswith("mirror.example.com/lineward:")


def test_a_registry_of_the_chart_counts_before_that_of_a_parent():
    """Render the SparkApplication, which names Secrets itself."""
    (application,) = [
        one for one in render("scaled", "--set", _GLOBAL) if one["kind"] == "SparkApplication"
    ]

    assert application["spec"]["image"].startswith("registry.example.com/")
    assert application["spec"]["imagePullSecrets"][0] == "registry"
    assert application["spec"]["imagePullSecrets"][-1] == "b"


@each_values_file
def test_pods_mount_what_is_there(name):
    """Check that every mounted ConfigMap and volume exists."""
    made = {one["metadata"]["name"] for one in find_all(name, "ConfigMap")}
    foreign = {"lineward-policy"} if name not in {"embedded", "scaled"} else set()
    for kind, pod in list_pods(name):
        volumes = pod["spec"]["volumes"]
        mounted = {one["configMap"]["name"] for one in volumes if "configMap" in one}
        claims = {"data"} if kind == "StatefulSet" else set()
        names = {one["name"] for one in volumes} | claims

        assert mounted <= made | foreign
        for container in list_containers(pod):
            assert {one["name"] for one in container.get("volumeMounts", [])} <= names
