"""Check the objects that Helm renders of each values file."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helm import generate
from tests.helm.charts import (
    CHART,
    NAMESPACE,
    each_embedded,
    each_values_file,
    env_of,
    find,
    find_all,
    list_pods,
    render,
    render_text,
    run_helm,
    values_path,
)
from tests.helm.crds import load_schema
from tests.helm.schemas import KUBERNETES, find_errors

pytestmark = pytest.mark.xdist_group("helm")


@each_values_file
def test_lint_finds_nothing(name):
    """Run `helm lint --strict`."""
    answer = run_helm("lint", "--strict", "--quiet", str(CHART), "-f", str(values_path(name)))

    assert (answer.returncode, answer.stdout.strip()) == (0, "")


@each_values_file
@pytest.mark.parametrize("version", KUBERNETES)
def test_every_object_is_valid(name, version):
    """Validate strictly for the oldest and newest Kubernetes, and by the custom resources."""
    assert [error for one in render(name) for error in find_errors(one, version)] == []


@pytest.mark.parametrize("where", [("spec",), ("spec", "template", "spec"), ("metadata",)])
def test_an_unknown_field_is_an_error(where):
    """Check that the validation is strict at each depth of a core object."""
    broken = copy.deepcopy(find("embedded", "StatefulSet"))
    part: Any = broken
    for step in where:
        part = part[step]
    part["intervall"] = 1

    assert len(find_errors(broken, "1.37")) == 1


def test_an_unknown_field_of_a_custom_resource_is_an_error():
    """Check that the validation is strict for custom resources too."""
    broken = copy.deepcopy(find("full", "ServiceMonitor"))
    broken["spec"]["endpoints"][0]["intervall"] = "15s"

    assert len(find_errors(broken, "1.37")) == 1


def test_templates_ask_nothing_of_the_cluster():
    """Search templates for what renders otherwise in Argo CD, which asks no cluster."""
    text = "".join(path.read_text() for path in (CHART / "templates").rglob("*.*"))

    assert [
        word for word in (".Capabilities", "lookup ", "randA", "genCA", "now |") if word in text
    ] == []


@each_embedded
def test_selectors_and_ports_match_the_pod(name):
    """Compare selectors and ports of Services, policies, monitors and Ingress with the pod."""
    ((_, pod), *_) = [one for one in list_pods(name) if one[0] == "StatefulSet"]
    labels = pod["metadata"]["labels"].items()
    ports = {one["name"]: one["containerPort"] for one in pod["spec"]["containers"][0]["ports"]}
    services = {one["metadata"]["name"]: one["spec"] for one in find_all(name, "Service")}

    for spec in services.values():
        assert spec["selector"].items() <= labels
        assert all(ports[port["targetPort"]] == port["port"] for port in spec["ports"])
    for kind in ("NetworkPolicy", "PodDisruptionBudget", "PodMonitor"):
        for one in find_all(name, kind):
            selector = one["spec"].get("podSelector") or one["spec"]["selector"]
            assert selector["matchLabels"].items() <= labels
    assert find(name, "StatefulSet")["spec"]["serviceName"] in services
    for one in find_all(name, "Ingress"):
        backend = one["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        assert services[backend["name"]]["ports"][0]["name"] == backend["port"]["name"]
    for one in find_all(name, "HTTPRoute"):
        (backend,) = one["spec"]["rules"][0]["backendRefs"]
        assert services[backend["name"]]["ports"][0]["port"] == backend["port"]
    there = {
        f"http://{service}.{NAMESPACE}.svc:{port['port']}"
        for service, spec in services.items()
        for port in spec["ports"]
    }
    assert set(re.findall(r"http://[\w.-]+\.svc:\d+", render_text(name))) <= there


@each_values_file
def test_services_say_that_they_speak_http(name):
    """Check every port: a mesh or Gateway would take it for TCP.

    A load balancer of Azure takes the protocol for that of its probe, which has no token.
    """
    for one in find_all(name, "Service"):
        balanced = one["spec"].get("type") == "LoadBalancer"
        found = {port.get("appProtocol") for port in one["spec"]["ports"]}
        assert found == {None if balanced else "http"}


@pytest.mark.parametrize("name", ["embedded", "scaled"])
def test_a_load_balancer_has_its_class_and_its_sources(name):
    """Check both Services that others reach; a ClusterIP takes neither."""
    wanted = {"loadBalancerClass": "internal", "loadBalancerSourceRanges": ["192.0.2.0/24"]}
    options = ",".join(
        f"services.{part}.type={kind},services.{part}.loadBalancerClass=internal"
        f",services.{part}.loadBalancerSourceRanges={{192.0.2.0/24}}"
        for part, kind in (("collector", "LoadBalancer"), ("api", "ClusterIP"))
    )
    found = {
        one["metadata"]["name"]: one["spec"]
        for one in render(name, "--set", options)
        if one["kind"] == "Service"
    }

    assert found["lineward-collector"].items() >= wanted.items()
    assert wanted.keys() & found["lineward"].keys() == set()


_DUAL_STACK = "services.ipFamilyPolicy=RequireDualStack,services.ipFamilies={IPv6,IPv4}"


@pytest.mark.parametrize("name", ["embedded", "scaled"])
def test_all_services_have_the_families_of_the_values(name):
    """Name both families, and none: then each Service has those of the cluster."""
    for options, wanted in (
        (("--set", _DUAL_STACK), ("RequireDualStack", ["IPv6", "IPv4"])),
        ((), (None, None)),
    ):
        services = [one for one in render(name, *options) if one["kind"] == "Service"]
        assert len(services) == 4
        for one in services:
            assert (one["spec"].get("ipFamilyPolicy"), one["spec"].get("ipFamilies")) == wanted
            assert find_errors(one, "1.37") == []


# Beyond it `kubectl apply` fails: it keeps the object in an annotation.
_LARGEST_BYTES = 262_144


@each_values_file
def test_no_object_is_too_large_to_apply(name):
    """Check sizes: each dashboard needs a ConfigMap of its own."""
    sizes = {one["metadata"]["name"]: len(json.dumps(one)) for one in render(name)}

    assert max(sizes.values()) < _LARGEST_BYTES


@each_values_file
def test_the_only_hook_is_the_test(name):
    """Check for hooks, which Argo CD does not run as Helm does, and for Secrets."""
    for one in render(name):
        hook = one["metadata"].get("annotations", {}).get("helm.sh/hook")
        # An uninstall deletes no hook.
        assert hook == ("test" if one["kind"] == "Pod" else None)
        assert one["kind"] != "Secret"
        assert one["kind"] in {"StatefulSet", "Service"} or "clusterIP" not in one.get("spec", {})


_IMMUTABLE = ("selector", "serviceName", "volumeClaimTemplates", "podManagementPolicy")


@pytest.mark.parametrize(("name", "workloads"), [("embedded", 1), ("scaled", 5)])
def test_an_upgrade_changes_no_immutable_field(name, workloads):
    """Render another version: selectors, Services and claim templates must stay the same."""
    labels = "embedded.podLabels" if name == "embedded" else "collector.pod.labels"
    options = f"image.tag=2.0.0,commonLabels.new=yes,{labels}.more=yes"
    before, after = (
        {
            one["metadata"]["name"]: one["spec"]
            for one in objects
            if one["kind"] in {"StatefulSet", "Deployment"}
        }
        for objects in (render(name), render(name, "--set", options))
    )

    assert len(before) == workloads
    for workload, spec in after.items():
        kept = {field: before[workload].get(field) for field in _IMMUTABLE}
        assert {field: spec.get(field) for field in _IMMUTABLE} == kept
        assert "helm.sh/chart" not in json.dumps(kept)
        assert "version" not in json.dumps(kept).replace("apiVersion", "")
        assert spec["template"] != before[workload]["template"]


def test_an_upgrade_replaces_a_pod_that_is_not_ready():
    """Check for `Parallel`: with OrderedReady an upgrade waits for a pod with a wrong image."""
    assert find("embedded", "StatefulSet")["spec"]["podManagementPolicy"] == "Parallel"


@pytest.mark.parametrize(
    ("values", "tls", "scheme"),
    [
        ("tls=false", None, "http"),
        ("tls=true", [{}], "https"),
        ("tlsSecret=cert", [{"hosts": ["*.example.com"], "secretName": "cert"}], "https"),
    ],
)
def test_an_ingress_says_whether_pages_are_served_by_https(values, tls, scheme):
    """Compare the Ingress with the address in links; OpenShift takes the empty entry alone."""
    options = f"ingress.enabled=true,ingress.host=*.example.com,ingress.{values}"
    found = render("embedded", "--set", options)
    (spec,) = [one["spec"] for one in found if one["kind"] == "Ingress"]
    (pod,) = [one["spec"]["template"] for one in found if one["kind"] == "StatefulSet"]
    env = env_of(pod["spec"]["containers"][0])

    assert spec.get("tls") == tls
    assert [one["host"] for one in spec["rules"]] == ["*.example.com"]
    assert [one["path"] for one in spec["rules"][0]["http"]["paths"]] == ["/"]
    assert env["LINEWARD_ALERTS_PUBLIC_URL"] == f"{scheme}://*.example.com"


def _list_lost_defaults(schema: Any, value: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    """Yield the fields that the API server would add to an object of a custom resource."""
    if isinstance(value, list):
        for one in value:
            yield from _list_lost_defaults(schema.get("items", {}), one, path)
    elif isinstance(value, dict):
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from _list_lost_defaults(part, value[name], f"{path}.{name}")
            elif "default" in part:
                yield f"{path}.{name}"


@each_values_file
@pytest.mark.parametrize("kind", ["HTTPRoute", "ServiceMonitor", "PodMonitor", "PrometheusRule"])
def test_defaults_of_custom_resources_are_written_out(name, kind):
    """Compare with the definitions: Argo CD shows what the API server adds as a difference."""
    for one in find_all(name, kind):
        group, _, version = one["apiVersion"].partition("/")
        schema = load_schema(group, version, kind)

        assert list(_list_lost_defaults(schema, one, kind)) == []


@pytest.mark.parametrize("name", generate.GOLDEN)
def test_manifests_are_the_golden_ones(name):
    """Compare with the golden file, so that a change of a template shows in its diff."""
    assert generate.golden_path(name).read_text() == render_text(name)
