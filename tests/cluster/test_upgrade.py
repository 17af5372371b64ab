"""Upgrade releases on a real API server, roll them back, and drain their nodes."""

import pytest

from tests.cluster.api import Api, RejectedError
from tests.cluster.releases import Release, copy_chart
from tests.helm.charts import Manifest
from tests.suite.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_TOO_MANY = 429


def _uids(api: Api, release: Release, component: str) -> set[str]:
    """Return the uids of a component's pods."""
    found = api.pods(release.namespace, component=component)
    return {one["metadata"]["uid"] for one in found}


@pytest.mark.parametrize(
    ("values", "component"),
    [("embedded", "embedded"), ("scaled", "collector"), ("scaled-deployment", "pipeline")],
)
def test_a_later_release_of_the_chart_changes_no_immutable_field(
    api, release, tmp_path, values, component
):
    """Upgrade to another version with more labels: labels of claims or selectors would fail."""
    installed = release(values)
    installed.install()
    before = _uids(api, installed, component)
    more = "commonLabels.more=yes,commonAnnotations.more=yes"

    assert installed.upgrade("--set", more, chart=copy_chart(tmp_path, "9.9.9")) == ""

    pods = api.pods(installed.namespace, component=component)
    assert not before & {one["metadata"]["uid"] for one in pods}
    assert {one["spec"]["containers"][0]["image"].rpartition(":")[2] for one in pods} == {"9.9.9"}
    assert {one["metadata"]["labels"]["more"] for one in pods} == {"yes"}


def test_a_changed_setting_replaces_pods_and_a_rollback_undoes_it(api, release):
    """Read the variable in the pods after an upgrade, and after a rollback."""
    installed = release("scaled-deployment")
    installed.install()
    first = _uids(api, installed, "service")

    installed.upgrade("--set", "settings.LINEWARD_LEASE_SECONDS=20")
    second = _uids(api, installed, "service")
    changed = _variables(api, installed, "LINEWARD_LEASE_SECONDS")
    installed.roll_back()

    assert changed == {"20"}
    assert not first & second
    assert not second & _uids(api, installed, "service")
    assert _variables(api, installed, "LINEWARD_LEASE_SECONDS") == {None}


@pytest.mark.parametrize(("values", "component"), [("embedded", "embedded"), ("scaled", "service")])
def test_a_changed_policy_replaces_no_pod(api, release, tmp_path, values, component):
    """Change the ConfigMap alone: the pods read it again by themselves."""
    installed = release(values)
    installed.install()
    before = _uids(api, installed, component)
    text = "access:\n  tokens: []\n...\n"
    (tmp_path / "policy.yaml").write_text(text)

    installed.upgrade("--set-file", f"policy.inline={tmp_path / 'policy.yaml'}")

    policy = f"/api/v1/namespaces/{installed.namespace}/configmaps/lineward-policy"
    assert api.get(policy)["data"]["lineward.yaml"] == text
    assert _uids(api, installed, component) == before


def test_the_size_of_a_volume_cannot_be_changed_by_an_upgrade(release):
    """Enlarge the collectors' volumes: the API server rejects the change, as the page says."""
    installed = release("scaled-deployment")
    installed.install()

    answer = installed.try_upgrade("--set", "collector.persistence.size=40Gi")

    assert answer.returncode != 0
    assert "updates to statefulset spec for fields other than" in answer.stderr


def test_a_statefulset_that_is_deleted_alone_gets_another_size(api, release):
    """Delete it without its pods, as the page says, and upgrade: the pod runs on."""
    installed = release("embedded")
    installed.install()
    (pod,) = api.pods(installed.namespace)
    path = f"/apis/apps/v1/namespaces/{installed.namespace}/statefulsets/lineward"
    api.ask("DELETE", path, propagationPolicy="Orphan")
    until(lambda: "StatefulSet/lineward" not in api.names(installed.namespace))

    installed.upgrade("--set", "embedded.persistence.size=40Gi")

    (claim,) = api.get(path)["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "40Gi"
    assert _uids(api, installed, "embedded") == {pod["metadata"]["uid"]}


def test_an_install_takes_the_volumes_of_the_release_before(api, release):
    """Uninstall and install again: the collectors have the claims that were kept."""
    installed = release("scaled-deployment")
    installed.install()
    claims = _list_claims(api, installed)
    installed.uninstall()

    installed.install()

    assert len(claims) == 2
    assert _list_claims(api, installed) == claims
    used = {_claim_of(one) for one in api.pods(installed.namespace, component="collector")}
    assert used == claims.keys()


def test_the_autoscaler_keeps_its_number_through_an_upgrade(api, release):
    """Scale collectors up as the autoscaler does: an upgrade keeps the number."""
    installed = release("scaled")
    installed.install()
    collectors = f"/apis/apps/v1/namespaces/{installed.namespace}/statefulsets/lineward-collector"
    api.ask("PATCH", f"{collectors}/scale", {"spec": {"replicas": 3}})
    until(lambda: len(_uids(api, installed, "collector")) == 3)

    installed.upgrade("--set", "settings.LINEWARD_LEASE_SECONDS=20")

    assert api.get(collectors)["spec"]["replicas"] == 3


def test_a_drain_takes_one_collector_at_a_time(api, nodes, release):
    """Evict the second collector before the first one is back: the budget rejects this."""
    installed = release("scaled-deployment")
    installed.install()
    first, second = api.pods(installed.namespace, component="collector")
    _await_budget(api, installed, "lineage-collector")
    nodes.is_slow.set()
    try:
        _evict(api, first)
        with pytest.raises(RejectedError, match="disruption budget") as rejected:
            _evict(api, second)
    finally:
        nodes.is_slow.clear()

    assert rejected.value.status == _TOO_MANY
    _await_budget(api, installed, "lineage-collector")
    _evict(api, second)
    _await_budget(api, installed, "lineage-collector")
    assert not {first["metadata"]["uid"], second["metadata"]["uid"]} & _uids(
        api, installed, "collector"
    )


def test_a_node_is_drained(api, nodes, release):
    """Cordon a node and evict its pods until it has none: all run on the other node."""
    installed = release("scaled-deployment")
    installed.install()
    nodes.cordon("node-a")
    try:
        until(lambda: _drain(api, installed, "node-a"))
        until(lambda: len(api.pods(installed.namespace)) == 5)
        until(
            lambda: {one["status"]["phase"] for one in api.pods(installed.namespace)} == {"Running"}
        )
    finally:
        nodes.uncordon("node-a")

    assert {one["spec"]["nodeName"] for one in api.pods(installed.namespace)} == {"node-b"}


def test_a_budget_of_zero_stops_a_drain_of_the_embedded_pod(api, release):
    """Evict the pod with `maxUnavailable: 0`, then with the default of 1."""
    installed = release("embedded")
    none = "podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=0"
    installed.install("--set", none)
    (pod,) = api.pods(installed.namespace)
    with pytest.raises(RejectedError, match="disruption budget"):
        _evict(api, pod)

    installed.upgrade("--set", "podDisruptionBudget.enabled=true")
    _await_budget(api, installed, "lineward")
    _evict(api, pod)

    until(lambda: len(_uids(api, installed, "embedded") - {pod["metadata"]["uid"]}) == 1)
    (after,) = api.pods(installed.namespace)
    assert _claim_of(after) == _claim_of(pod) == "data-lineward-0"


def _variables(api: Api, release: Release, name: str) -> set[str | None]:
    """Return the value of a variable in each service; None where it is not set."""
    found = [
        one["spec"]["containers"][0] for one in api.pods(release.namespace, component="service")
    ]
    return {{each["name"]: each.get("value") for each in one["env"]}.get(name) for one in found}


def _list_claims(api: Api, release: Release) -> dict[str, str]:
    """Return the uids of the claims by their names."""
    path = f"/api/v1/namespaces/{release.namespace}/persistentvolumeclaims"
    found = [one["metadata"] for one in api.get(path)["items"]]
    return {one["name"]: one["uid"] for one in found}


def _claim_of(pod: Manifest) -> str:
    (volume,) = [one for one in pod["spec"]["volumes"] if one["name"] == "data"]
    return str(volume["persistentVolumeClaim"]["claimName"])


def _evict(api: Api, pod: Manifest) -> None:
    """Ask for an eviction, as `kubectl drain` does."""
    metadata = {name: pod["metadata"][name] for name in ("name", "namespace")}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/eviction"
    api.ask("POST", path, body)


def _drain(api: Api, release: Release, node: str) -> bool:
    """Try to evict each pod of a node once; return whether it has none."""
    found = [one for one in api.pods(release.namespace) if one["spec"].get("nodeName") == node]
    for pod in found:
        try:
            _evict(api, pod)
        except RejectedError as error:
            if error.status != _TOO_MANY:  # the budget, until another pod is ready
                raise
    return not found


def _await_budget(api: Api, release: Release, name: str) -> None:
    """Wait until a budget lets a pod go."""
    budgets = f"/apis/policy/v1/namespaces/{release.namespace}/poddisruptionbudgets"
    path = f"{budgets}/{name}"
    until(lambda: api.get(path).get("status", {}).get("disruptionsAllowed") == 1)
