"""Install the chart on a real API server, where Pod Security enforces `restricted`."""

import copy
from collections import Counter

import pytest

from tests.cluster.api import Api
from tests.helm.charts import VALUES, Manifest, each_values_file, find_all, render
from tests.suite.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_SCALED = {"collector": 2, "service": 2}
_PODS = {
    **{name: {"embedded": 1} for name in VALUES},
    # Without the Spark operator there is neither driver nor executor.
    "scaled": {**_SCALED, "kafka": 2, "marquez": 1, "kubernetes": 1},
    "scaled-deployment": {**_SCALED, "pipeline": 1},
    "scaled-openshift": {**_SCALED, "pipeline": 1},
}
_EXISTING_CLAIMS = {"openshift": "lineward-data", "full": "spark-event-logs"}


@each_values_file
def test_every_object_is_accepted_strictly_and_without_a_warning(api, name):
    """Create each object with a dry run: unknown fields are errors, and `restricted` warns."""
    installed = [one for one in render(name) if one not in _hooks(name)]

    assert [text for one in installed for text in api.create(one, dryRun="All")] == []


@each_values_file
def test_a_release_is_installed_and_removed(api, release, name):
    """Wait until all pods are ready; uninstall the release, and find its volumes alone."""
    installed = release(name)
    _create_what_exists(api, installed.namespace, name)
    before = api.names(installed.namespace)

    assert installed.install() == ""

    # The autoscaler adds the second collector after Helm has seen the first one ready.
    until(
        lambda: _count_pods(api, installed.namespace) == _PODS[name],
        describe=lambda: _count_pods(api, installed.namespace),
    )
    for hook in _hooks(name):
        hook["metadata"]["namespace"] = installed.namespace
        assert api.create(hook, dryRun="All") == []
    installed.uninstall()
    kept = before | {f"PersistentVolumeClaim/{one}" for one in _claims(name)}
    until(
        lambda: api.names(installed.namespace) == kept,
        describe=lambda: api.names(installed.namespace),
    )


@pytest.mark.parametrize("name", ["embedded", "scaled-deployment"])
def test_services_have_addresses_of_both_families(api, release, name):
    """Require both: an API server that has them gives each Service two addresses, or none."""
    installed = release(name)
    both = ["IPv4", "IPv6"]
    options = "services.ipFamilyPolicy=RequireDualStack,services.ipFamilies={IPv4,IPv6}"

    installed.install("--set", options)

    found = api.get(f"/api/v1/namespaces/{installed.namespace}/services")["items"]
    specs = [one["spec"] for one in found]
    assert len(specs) == 4
    assert [one["ipFamilies"] for one in specs] == [both] * 4
    assert sorted(len(one["clusterIPs"]) for one in specs) == [1, 2, 2, 2]  # one is headless


def test_the_namespace_rejects_what_restricted_forbids(api, release):
    """Weaken the containers: the API server warns of the StatefulSet, and accepts no pod."""
    weak = "embedded.containerSecurityContext.allowPrivilegeEscalation=true"
    installed = release("no-prometheus-operator")

    answer = installed.try_install("--set", weak)

    assert "would violate PodSecurity" in answer.stderr
    events = f"/api/v1/namespaces/{installed.namespace}/events"
    until(lambda: "violates PodSecurity" in str(api.get(events)))
    assert api.pods(installed.namespace) == []


def _count_pods(api: Api, namespace: str) -> Counter[str]:
    labels = [pod["metadata"]["labels"] for pod in api.pods(namespace)]
    return Counter(one["app.kubernetes.io/component"] for one in labels)


def _hooks(name: str) -> list[Manifest]:
    """Return the objects that `helm test` creates."""
    return [
        copy.deepcopy(one)
        for one in render(name)
        if "helm.sh/hook" in one["metadata"].get("annotations", {})
    ]


def _claims(name: str) -> set[str]:
    """Return the claims that an uninstalled release leaves."""
    sets = [one for one in find_all(name, "StatefulSet") if "volumeClaimTemplates" in one["spec"]]
    return {
        f"data-{one['metadata']['name']}-{at}"
        for one in sets
        for at in range(_PODS[name][one["metadata"]["labels"]["app.kubernetes.io/component"]])
    }


def _create_what_exists(api: Api, namespace: str, name: str) -> None:
    """Create the account and the claim that a values file takes from the cluster."""
    if name == "openshift":
        account = {"namespace": namespace, "name": "lineward"}
        api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    if claim := _EXISTING_CLAIMS.get(name):
        size = {"requests": {"storage": "20Gi"}}
        api.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"namespace": namespace, "name": claim},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": size},
            }
        )
