"""Check that NetworkPolicies open the way to each server whose address the chart gives to a pod."""

from collections.abc import Iterator

import pytest

from tests.helm.charts import (
    NAMESPACE,
    SCALED,
    Manifest,
    env_of,
    find_all,
    list_containers,
    list_pods,
    ports_of,
    select,
)
from tests.helm.network import DATABASES, OTHERS, End, Port, allow, list_ends, list_policies

pytestmark = pytest.mark.xdist_group("helm")

# Links for people, and names of buckets.
_NO_SERVERS = {"LINEWARD_ALERTS_PUBLIC_URL", "LINEWARD_ALERTS_DASHBOARDS_URL", "LINEWARD_LAKE_URL"}
# The service knows whether there is a log in Kafka, and does not read it.
_UNUSED = {("service", "LINEWARD_LOG")}
_CATALOG = "postgresql://postgresql:5432/lineward"  # a variable from a Secret
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AWAY = OTHERS["private address"]


def _find_addresses(name: str) -> set[tuple[str, str, int]]:
    """Return component, host and port of each server that a variable of a pod names."""
    return {
        (pod["metadata"]["labels"]["app.kubernetes.io/component"], *address)
        for _, pod in list_pods(name)
        for container in list_containers(pod)
        for address in _read_addresses(pod, env_of(container))
    }


def _read_addresses(pod: Manifest, env: dict[str, str]) -> Iterator[tuple[str, int]]:
    component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
    for variable, value in env.items():
        if variable not in _NO_SERVERS and (component, variable) not in _UNUSED:
            text = _CATALOG if variable == "LINEWARD_CATALOG_URL" else value
            scheme, _, rest = text.rpartition("://")
            if scheme or variable.endswith("_BOOTSTRAP"):
                for address in rest.partition("/")[0].split(","):
                    host, _, port = address.partition(":")
                    yield host, int(port or _DEFAULT_PORTS[scheme])
    if env.keys() & {"LINEWARD_LAKE_URL", "LINEWARD_LAKE_ENDPOINT"} == {"LINEWARD_LAKE_URL"}:
        yield "s3.example.com", 443


def _find_end(name: str, host: str, port: int) -> tuple[End, Port]:
    """Return what is behind a name, as DNS and kube-proxy lead there."""
    first, _, rest = host.partition(".")
    space = rest.partition(".")[0]
    if first == "postgresql":
        return DATABASES.get(name, _AWAY), Port(port)
    if space == NAMESPACE:
        (spec,) = [
            one["spec"] for one in find_all(name, "Service") if one["metadata"]["name"] == first
        ]
        (pod,) = select(name, spec["selector"])
        (target,) = [one["targetPort"] for one in spec["ports"] if one["port"] == port]
        return End(NAMESPACE, pod["metadata"]["labels"]), Port(ports_of(pod)[target])
    if host == "kubernetes.default.svc":
        return OTHERS["API server"], Port(6443)
    return _AWAY if space == "example" else End(space), Port(port)


@pytest.mark.parametrize("name", ["full", *SCALED])
def test_each_server_that_a_variable_names_is_reached(name):
    """Follow the addresses in pods as DNS and Services do; each opening must be there."""
    policies, pods, found = list_policies(name), list_ends(name), _find_addresses(name)

    closed = [
        (component, host, port)
        for component, host, port in found
        if not allow(policies, pods[component], *_find_end(name, host, port))
    ]
    assert closed == []
    assert {component for component, _, _ in found} == pods.keys()
