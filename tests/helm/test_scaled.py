"""Check how the objects of scaled mode fit together, and what its containers are given."""

import re

import pytest

from tests.helm.charts import (
    NAMESPACE,
    each_scaled,
    env_of,
    find,
    find_all,
    list_containers,
    list_pods,
    ports_of,
    render,
    render_text,
    select,
)
from tests.helm.schemas import KUBERNETES, find_template_errors

pytestmark = pytest.mark.xdist_group("helm")


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
    base = {"lineward-collector", "lineward-sender-secret"}
    catalog, lake, log = {"lineward-catalog"}, {"lineward-lake"}, {"lineward-kafka"}

    assert mounted == {
        "collector": base | log,
        "service": base | catalog | lake | {"lineward-slack"},
        "pipeline": catalog | lake | log,
        "executor": lake | log,
        "kafka": base,
        "marquez": base | catalog | {"marquez"},
        "kubernetes": catalog,
    }


def test_values_of_each_component_reach_its_pods():
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


@each_scaled
def test_components_have_the_names_of_roles(name):
    """Compare labels, by which `act restart-role` finds workloads, with what containers run."""
    workloads = [*find_all(name, "Deployment"), *find_all(name, "StatefulSet")]
    for one in workloads:
        (container,) = one["spec"]["template"]["spec"]["containers"]
        assert one["metadata"]["labels"]["app.kubernetes.io/component"] == container["args"][0]
    assert len(workloads) == (5 if name == "scaled" else 3)


def test_services_may_act_where_actions_are_on():
    """Compare the account of the Role of actions with that of the services."""
    objects = render("scaled", "--set", "kubernetesSource.actions=true")
    (binding,) = [
        one
        for one in objects
        if one["kind"] == "RoleBinding" and one["metadata"]["name"].endswith("-actions")
    ]
    (service,) = [
        one["spec"]["template"]["spec"]
        for one in objects
        if one["kind"] == "Deployment" and one["metadata"]["name"].endswith("-service")
    ]

    assert binding["subjects"][0]["name"] == service["serviceAccountName"]
    assert env_of(service["containers"][0])["LINEWARD_KUBERNETES_INSTANCE"] == "lineward"
    assert "kubernetes" in {one["name"] for one in service["containers"][0]["volumeMounts"]}


@each_scaled
def test_actions_may_change_the_workloads_of_the_release_alone(name):
    """Compare the objects that the Role may patch with those that the chart makes."""
    options = "kubernetesSource.enabled=true,kubernetesSource.actions=true"
    objects = render(name, "--set", options)
    (role,) = [
        one
        for one in objects
        if one["kind"] == "Role" and one["metadata"]["name"].endswith("-actions")
    ]
    named = {
        (resource, each)
        for rule in role["rules"]
        if "patch" in rule["verbs"]
        for resource in rule["resources"]
        for each in rule.get("resourceNames", ["*"])
    }
    kinds = ("StatefulSet", "Deployment", "SparkApplication")
    made = {
        (f"{one['kind'].lower()}s", one["metadata"]["name"])
        for one in objects
        if one["kind"] in kinds
    }

    assert named == made


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


def test_spark_asks_for_no_claims_which_the_role_does_not_have():
    """Compare the Role with the settings by which Spark lists, takes over and deletes claims."""
    (role,) = [
        one for one in find_all("scaled", "Role") if one["metadata"]["namespace"] == NAMESPACE
    ]
    granted = {resource for rule in role["rules"] for resource in rule["resources"]}
    settings = find("scaled", "SparkApplication")["spec"]["sparkConf"]
    names = ("ownPersistentVolumeClaim", "reusePersistentVolumeClaim")

    assert granted == {"pods", "services", "configmaps"}
    assert {settings[f"spark.kubernetes.driver.{name}"] for name in names} == {"false"}


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_bridge_to_kafka_has_one_strategy_for_any_number_of_pods(replicas):
    """Change the number: a change of the strategy's type would fail an upgrade."""
    (bridge,) = [
        one["spec"]
        for one in render("scaled", "--set", f"kafkaSource.replicas={replicas}")
        if one["kind"] == "Deployment" and one["metadata"]["name"].endswith("-kafka")
    ]

    assert bridge["replicas"] == replicas
    assert bridge["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
    }
