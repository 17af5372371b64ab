"""Check how the objects of scaled mode fit together, and what its containers are given."""

import re
from typing import Any

import pytest

from alerts.delivery.settings import DeliverySettings
from alerts.routing.settings import Variables
from collector.settings import Limits
from lineage import environment
from lineage.event_log.settings import LogSettings, read_log
from lineage.health_port import HealthPort
from lineage.lake.settings import LakeSettings
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service import settings as service_settings
from service.kafka import settings as kafka_settings
from service.marquez.settings import MarquezSettings
from slis import settings as pipeline_settings
from tests.helm.charts import (
    NAMESPACE,
    Manifest,
    each_scaled,
    find,
    find_all,
    list_containers,
    list_pods,
    render,
    render_text,
)
from tests.helm.schemas import KUBERNETES, find_template_errors

pytestmark = pytest.mark.xdist_group("helm")
_STRUCTS: dict[str, Any] = {
    "": service_settings.Settings,
    "DELIVERY_": DeliverySettings,
    "ALERTS_": Variables,
    "PIPELINE_": pipeline_settings.Settings,
    "COLLECTOR_": Limits,
    "KUBERNETES_": KubernetesSettings,
    "LAKE_": LakeSettings,
    "LOG_": LogSettings,
    "KAFKA_": kafka_settings.Settings,
    "MARQUEZ_": MarquezSettings,
}


def select(name: str, selector: dict[str, str]) -> list[Manifest]:
    """Return the pod templates with these labels."""
    pods = [pod for _, pod in list_pods(name)]
    return [pod for pod in pods if selector.items() <= pod["metadata"]["labels"].items()]


def ports_of(pod: Manifest) -> dict[str, int]:
    """Return the ports of a pod template by name."""
    found = [port for one in list_containers(pod) for port in one.get("ports", [])]
    return {port["name"]: port["containerPort"] for port in found}


def env_of(container: Manifest) -> dict[str, str]:
    """Return the variables of a container; a reference counts as a name."""
    return {one["name"]: one.get("value", "x") for one in container.get("env", [])}


@each_scaled
def test_each_selector_finds_one_component(name):
    """Compare selectors of Services, workloads, policies and budgets with labels of pods."""
    for kind in ("Service", "StatefulSet", "Deployment", "NetworkPolicy", "PodDisruptionBudget"):
        for one in find_all(name, kind):
            selector = one["spec"].get("podSelector") or one["spec"]["selector"]
            (pod,) = select(name, selector.get("matchLabels", selector))
            for port in one["spec"].get("ports", []):
                assert ports_of(pod)[port["targetPort"]] == port["port"], one["metadata"]["name"]


@each_scaled
def test_every_pod_has_a_network_policy(name):
    """Check that no pod of the mode is left open, but for that of `helm test`."""
    closed = [one["spec"]["podSelector"]["matchLabels"] for one in find_all(name, "NetworkPolicy")]
    covered = [id(pod) for selector in closed for pod in select(name, selector)]

    assert covered == list(dict.fromkeys(covered))
    pods = {id(pod) for kind, pod in list_pods(name) if kind != "Pod"}
    assert set(covered) == pods


@each_scaled
def test_every_opening_leads_somewhere(name):
    """Compare the two ends of each connection between pods of the release."""
    for one in find_all(name, "NetworkPolicy"):
        for rule in one["spec"].get("egress") or []:
            for peer in rule["to"]:
                if "podSelector" in peer and "instance" in str(peer):
                    (target,) = select(name, peer["podSelector"]["matchLabels"])
                    (taken,) = [
                        other["spec"]["ingress"]
                        for other in find_all(name, "NetworkPolicy")
                        if select(name, other["spec"]["podSelector"]["matchLabels"]) == [target]
                    ]
                    ports = {port["port"] for entry in taken for port in entry["ports"]}
                    assert {port["port"] for port in rule["ports"]} <= ports


def _egress(name: str, component: str) -> set[int]:
    (policy,) = [
        one
        for one in find_all(name, "NetworkPolicy")
        if one["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == component
    ]
    return {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}


def test_each_component_opens_what_it_needs():
    """Check the ports that each component reaches: collectors reach no database."""
    assert _egress("scaled", "collector") == {53, 9093}
    assert _egress("scaled", "service") == {53, 443, 5432, 9000, 6443, 8700}
    assert _egress("scaled", "pipeline") == {53, 443, 5432, 9093, 9000, 6443, 7079}
    assert _egress("scaled", "executor") == {53, 443, 9093, 9000, 7078, 7079}
    assert _egress("scaled", "kafka") == {53, 9092, 8700}
    assert _egress("scaled", "marquez") == {53, 5000, 5432, 8700}
    assert _egress("scaled", "kubernetes") == {53, 443, 6443, 5432}
    assert _egress("scaled-deployment", "pipeline") == {53, 443, 5432, 9098}


def test_empty_peers_open_nothing():
    """Render empty lists of peers: a rule without peers would admit everybody."""
    off = "networkPolicy.ingress.collector=null,networkPolicy.ingress.metrics=null"
    off += ",networkPolicy.egress.dns=null,networkPolicy.egress.https=null"
    for one in render("scaled", "--set", off):
        if one["kind"] == "NetworkPolicy":
            spec = one["spec"]
            assert all(rule["from"] for rule in spec["ingress"] or [])
            assert all(rule["to"] for rule in spec["egress"] or [])


@each_scaled
def test_containers_set_what_lineward_reads(name):
    """Read each container's variables as Lineward does: each is a setting, with a valid value."""
    known = {
        f"LINEWARD_{section}{field.upper()}"
        for section, struct in _STRUCTS.items()
        for field in struct.__struct_fields__
    } | {"LINEWARD_HEALTH_PORT"}
    for _, pod in list_pods(name):
        for container in list_containers(pod):
            env = env_of(container)
            assert len(env) == len(container.get("env", []))
            assert {one for one in env if one.startswith("LINEWARD_")} <= known
            shared = {"LINEWARD_COLLECTOR_URL"}
            for section, struct in _STRUCTS.items():
                ours = {
                    key: value for key, value in env.items() if not section or key not in shared
                }
                environment.read(struct, section=section, environ=ours)
            assert environment.read(HealthPort, environ=env)
            read_log(env)


@each_scaled
def test_each_file_that_a_variable_names_is_mounted(name):
    """Compare variables that name files of Secrets with the keys that the volume has."""
    for _, pod in list_pods(name):
        volumes = {one["name"]: one for one in pod["spec"]["volumes"]}
        sources = volumes.get("keys", {}).get("projected", {}).get("sources", [])
        files = {item["path"] for source in sources for item in source["secret"]["items"]}
        named = {
            value.rpartition("/")[2]
            for container in list_containers(pod)
            for value in env_of(container).values()
            if value.startswith("/etc/lineward/keys/")
        }
        assert named == files


def test_each_component_has_its_own_secrets_only():
    """Check which Secrets reach which pod: collectors and executors have none of the catalog."""
    mounted = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"]: {
            source["secret"]["name"]
            for volume in pod["spec"]["volumes"]
            for source in volume.get("projected", {}).get("sources", [])
            if "secret" in source
        }
        for kind, pod in list_pods("scaled")
        if kind != "Pod"
    }
    base = {"lineward-collector", "lineward-reader-secret"}
    catalog, lake, log = {"lineward-catalog"}, {"lineward-lake"}, {"lineward-kafka"}

    assert mounted == {
        "collector": base | log,
        "service": base | catalog | lake | log | {"lineward-slack"},
        "pipeline": catalog | lake | log,
        "executor": lake | log,
        "kafka": base,
        "marquez": base | catalog | {"marquez"},
        "kubernetes": catalog,
    }


def test_what_an_operator_sets_reaches_the_pods():
    """Compare values of the common blocks with the pods, and settings with every role."""
    pods = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod
        for kind, pod in list_pods("scaled")
        if kind != "Pod"
    }

    assert pods["collector"]["spec"]["priorityClassName"] == "production"
    assert pods["executor"]["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert pods["executor"]["spec"]["tolerations"] == [{"key": "data", "operator": "Exists"}]
    assert pods["executor"]["metadata"]["labels"]["cost-center"] == "42"
    assert "safe-to-evict" in str(pods["pipeline"]["metadata"]["annotations"])
    for pod in pods.values():
        assert env_of(pod["spec"]["containers"][0])["LINEWARD_PIPELINE_MAX_ROWS"] == "50000"
        assert pod["metadata"]["labels"]["team"] == "data-platform"
        assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}]
    local = find("scaled-deployment", "Deployment", "pipeline")["spec"]["template"]["spec"]
    env = env_of(local["containers"][0])
    assert env["LINEWARD_PIPELINE_MASTER"] == "local[4]"
    assert env["LINEWARD_PIPELINE_DRIVER_MEMORY"] == "3g"
    assert "fsGroup" not in local["securityContext"]


@pytest.mark.parametrize("version", KUBERNETES)
def test_templates_of_spark_are_pod_templates(version):
    """Validate strictly: the custom resource takes anything as a template."""
    spec = find("scaled", "SparkApplication")["spec"]
    for part in ("driver", "executor"):
        assert find_template_errors(spec[part]["template"], version) == []
    broken = {"spec": {**spec["driver"]["template"]["spec"], "toleration": []}}
    assert len(find_template_errors(broken, version)) == 1


@each_scaled
def test_addresses_of_the_release_exist(name):
    """Compare addresses in pods and ConfigMaps with the Services and their ports."""
    there = {
        f"http://{one['metadata']['name']}.{NAMESPACE}.svc:{port['port']}"
        for one in find_all(name, "Service")
        for port in one["spec"]["ports"]
    }
    text = render_text(name)

    assert set(re.findall(rf"http://[\w.-]+\.{NAMESPACE}\.svc:\d+", text)) <= there
    assert find(name, "StatefulSet")["spec"]["serviceName"] in str(there)


def test_the_pod_of_helm_test_asks_the_services_of_the_mode():
    """Compare its addresses with the Services of collectors and services."""
    env = env_of(find("scaled", "Pod")["spec"]["containers"][0])
    ends = {
        env["COLLECTOR_URL"]: ("lineward-collector", "collector"),
        env["API_URL"]: ("lineward", "service"),
    }

    for address, (service, component) in ends.items():
        (spec,) = [
            one["spec"]
            for one in find_all("scaled", "Service")
            if one["metadata"]["name"] == service
        ]
        assert address == f"http://{service}.{NAMESPACE}.svc:{spec['ports'][0]['port']}"
        assert spec["selector"]["app.kubernetes.io/component"] == component


@each_scaled
def test_accounts_and_roles_belong_together(name):
    """Check that each pod's ServiceAccount exists, and that only the driver may start pods."""
    accounts = {one["metadata"]["name"] for one in find_all(name, "ServiceAccount")}
    for _, pod in list_pods(name):
        assert pod["spec"]["serviceAccountName"] in accounts
    roles = {one["metadata"]["name"]: one["rules"] for one in find_all(name, "Role")}
    for one in find_all(name, "RoleBinding"):
        (subject,) = one["subjects"]
        assert one["roleRef"]["name"] in roles
        assert subject["name"] in accounts
        assert subject["namespace"] == NAMESPACE
    writers = [role for role, rules in roles.items() if "create" in str(rules)]
    assert writers == (["lineward-pipeline"] if name == "scaled" else [])


def test_monitors_find_their_ports():
    """Compare the endpoints of both monitors with ports of the Services and pods they select."""
    monitor = find("scaled", "ServiceMonitor")["spec"]
    wanted = monitor["selector"]["matchLabels"].items()
    services = find_all("scaled", "Service")
    chosen = [one for one in services if wanted <= one["metadata"]["labels"].items()]
    ports = [port["name"] for one in chosen for port in one["spec"]["ports"]]
    assert sorted(ports) == sorted(one["port"] for one in monitor["endpoints"])

    monitor = find("scaled-deployment", "PodMonitor")["spec"]
    pods = select("scaled-deployment", monitor["selector"]["matchLabels"])
    scraped = [one["port"] for one in monitor["podMetricsEndpoints"]]
    assert sorted(port for pod in pods for port in ports_of(pod) if port in scraped) == sorted(
        scraped
    )
