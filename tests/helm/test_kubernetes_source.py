"""Check what the chart gives Lineward to watch Kubernetes, and jobs to report to Lineward."""

import pytest

from lineage.process import environment
from runbooks.actions.kubernetes_settings import SECTION, KubernetesSettings
from service.ingest.spark.listener_jar import JARS, LISTENER_PATH
from tests.helm.charts import NAMESPACE, each_values_file, find, find_all, render

pytestmark = pytest.mark.xdist_group("helm")

_READ = ["get", "list", "watch"]


def test_nothing_is_asked_of_the_api_server_by_default():
    """Create no Role, mount no token, and open no way to the API server."""
    spec = find("embedded", "StatefulSet")["spec"]["template"]["spec"]
    policy = find("embedded", "NetworkPolicy")["spec"]["egress"]

    assert find_all("embedded", "Role") == []
    assert "kubernetes" not in {one["name"] for one in spec["volumes"]}
    assert not [one for one in spec["containers"][0]["env"] if "KUBERNETES" in one["name"]]
    assert 6443 not in [port["port"] for rule in policy for port in rule["ports"]]


def test_roles_are_of_the_watched_namespaces_and_read_only():
    """Render without actions: no Role changes anything, and none is of the whole cluster."""
    found = render("full", "--set", "kubernetesSource.actions=false")
    roles = [one for one in found if one["kind"] == "Role"]

    assert {one["metadata"]["namespace"]: one["rules"] for one in roles} == {
        namespace: [
            {
                "apiGroups": ["sparkoperator.k8s.io"],
                "resources": ["sparkapplications"],
                "verbs": _READ,
            },
            {"apiGroups": [""], "resources": ["pods"], "verbs": _READ},
        ]
        for namespace in ("jobs", "etl")
    }
    assert not [one for one in found if one["kind"].startswith("Cluster")]


def test_actions_let_resubmit_create_applications():
    """Add `create` in the watched namespaces: the pod itself restarts its roles."""
    roles = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one
        for one in find_all("full", "Role")
    }

    assert roles["jobs", "lineward-data-source"]["rules"][0]["verbs"] == [*_READ, "create"]
    assert "patch" not in str(roles)
    for one in find_all("full", "RoleBinding"):
        metadata = one["metadata"]
        assert one["roleRef"]["name"] == metadata["name"]
        assert (metadata["namespace"], metadata["name"]) in roles
        assert one["subjects"] == [
            {"kind": "ServiceAccount", "name": "lineward", "namespace": NAMESPACE}
        ]


def test_the_pod_has_a_token_of_its_own_that_the_kubelet_renews():
    """Compare the variables with the paths of the volume, as Lineward reads them."""
    spec = find("full", "StatefulSet")["spec"]["template"]["spec"]
    container = spec["containers"][0]
    env = {one["name"]: one.get("value", "") for one in container["env"]}
    settings = environment.read(KubernetesSettings, section=SECTION, environ=env)
    (volume,) = [one["projected"] for one in spec["volumes"] if one["name"] == "kubernetes"]
    (mount,) = [one for one in container["volumeMounts"] if one["name"] == "kubernetes"]
    token, authority = volume["sources"]

    assert spec["automountServiceAccountToken"] is False
    assert (
        str(settings.token_file) == f"{mount['mountPath']}/{token['serviceAccountToken']['path']}"
    )
    assert (
        str(settings.ca_file)
        == f"{mount['mountPath']}/{authority['configMap']['items'][0]['path']}"
    )
    assert settings.watched_namespaces == ("jobs", "etl")
    assert settings.owner_keys == "example.com/owner,team"


def test_without_namespaces_that_of_the_release_is_watched():
    """Render `enabled` alone."""
    found = render("embedded", "--set", "kubernetesSource.enabled=true")
    (role,) = [one for one in found if one["kind"] == "Role"]
    (policy,) = [one for one in found if one["kind"] == "NetworkPolicy"]

    assert role["metadata"]["namespace"] == NAMESPACE
    assert [443, 6443] in [
        [port["port"] for port in rule["ports"]] for rule in policy["spec"]["egress"]
    ]


def test_jobs_fetch_the_jar_from_the_service_by_default():
    """Compare the address in the ConfigMap with the Service and the path that the service has."""
    text = find("embedded", "ConfigMap", "-spark")["data"]["spark-defaults.conf"]
    lines = dict(line.split(" ", 1) for line in text.splitlines())
    service = find("embedded", "Service", "lineward")
    address = f"http://{service['metadata']['name']}.{NAMESPACE}.svc:8701"

    assert lines["spark.jars"] in {f"{address}{LISTENER_PATH}/{jar}" for jar in JARS}
    assert "spark.jars.packages" not in lines
    old = render("embedded", "--set-string", "listener.scala=2.12")
    assert "openlineage-spark_2.12.jar" in str([one for one in old if one["kind"] == "ConfigMap"])


_SHARED = "monitoring.dashboards.namespace=shared"


@each_values_file
def test_releases_of_one_name_share_a_namespace_of_others(name):
    """Install the same name in two namespaces: none of their objects is the other's."""
    options = f"{_SHARED},kubernetesSource.enabled=true,kubernetesSource.namespaces={{shared}}"
    options += ",monitoring.dashboards.enabled=true"
    here = set(_list_objects(name, options))
    there = set(_list_objects(name, options, "--namespace", "other"))

    assert here & there == set()
    assert {kind for kind, space, _ in here if space == "shared"} == {
        *("ConfigMap", "Role", "RoleBinding"),
    }


def _list_objects(name: str, values: str, *more: str) -> list[tuple[str, str, str]]:
    """Return kind, namespace and name of each object."""
    found = [(one["kind"], one["metadata"]) for one in render(name, "--set", values, *more)]
    return [(kind, metadata["namespace"], metadata["name"]) for kind, metadata in found]
