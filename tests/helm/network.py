"""Decides by the rules of Kubernetes which connections NetworkPolicies allow."""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.helm.charts import NAMESPACE, Manifest, list_pods, render

_NAME = "kubernetes.io/metadata.name"  # a label of each namespace
_NO_LABELS: Mapping[str, str] = MappingProxyType({})


class End(NamedTuple):
    """End of a connection: a pod, or an address outside of the cluster.

    Attributes:
        namespace: of a pod; empty for an address.
        labels: of a pod.
        address: outside of the cluster; empty for a pod.
    """

    namespace: str = ""
    labels: Mapping[str, str] = _NO_LABELS
    address: str = ""


class Port(NamedTuple):
    """Port that a connection leads to."""

    number: int
    protocol: str = "TCP"


OTHERS = {
    "any pod": End("jobs"),
    "`monitoring`": End("monitoring"),
    "Kafka": End("kafka"),
    "PostgreSQL": End("database"),
    "S3": End("storage"),
    "Marquez": End("marquez"),
    "DNS": End("kube-system"),
    "API server": End(address="192.0.2.1"),
    "private address": End(address="10.9.9.9"),  # of servers in `ci/scaled-deployment-values.yaml`
    "any address": End(address="203.0.113.7"),
}
# Where the values files have PostgreSQL; in those that are not here, at a private address.
DATABASES = {
    "full": End(NAMESPACE, {"app.kubernetes.io/name": "postgresql"}),
    "scaled": OTHERS["PostgreSQL"],
}
_API_SERVER = 'networkPolicy.egress.apiServer=[{"ipBlock":{"cidr":"192.0.2.1/32"}}]'
_IN_KUBE_SYSTEM = (
    '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}]'
)
# By default both are everywhere.
_PLACES = ("--set-json", _API_SERVER, "--set-json", f"networkPolicy.egress.dns={_IN_KUBE_SYSTEM}")


def list_policies(name: str, *options: str) -> list[Manifest]:
    """Return the policies of a values file, with one API server and one place of DNS."""
    return [one for one in render(name, *_PLACES, *options) if one["kind"] == "NetworkPolicy"]


def list_ends(name: str) -> dict[str, End]:
    """Return the pods of a values file by their components."""
    labels = [pod["metadata"]["labels"] for _, pod in list_pods(name)]
    return {one["app.kubernetes.io/component"]: End(NAMESPACE, one) for one in labels}


def allow(policies: Iterable[Manifest], source: End, target: End, port: Port) -> bool:
    """Return whether the policies of both ends allow a connection."""
    known = list(policies)
    return _opens(known, "Egress", source, target, port) and _opens(
        known, "Ingress", target, source, port
    )


def _opens(policies: list[Manifest], kind: str, own: End, other: End, port: Port) -> bool:
    """Return whether one end opens the connection: no policy selects it, or a rule names it."""
    closing = [
        one["spec"]
        for one in policies
        if kind in one["spec"]["policyTypes"]
        and own.namespace == one["metadata"]["namespace"]
        and _selects(one["spec"]["podSelector"], own.labels)
    ]
    rules = [rule for spec in closing for rule in spec[kind.lower()] or []]
    return not closing or any(_names(rule, kind, other, port) for rule in rules)


def _names(rule: Manifest, kind: str, other: End, port: Port) -> bool:
    peers = rule.get("to" if kind == "Egress" else "from")
    ports = rule.get("ports")
    return (not peers or any(_is_peer(peer, other) for peer in peers)) and (
        not ports or port in _list_ports(ports)
    )


def _list_ports(given: list[dict[str, Any]]) -> Iterator[Port]:
    for one in given:
        assert one.keys() <= {"port", "protocol"}, one
        yield Port(one["port"], one.get("protocol", "TCP"))


def _is_peer(peer: Manifest, other: End) -> bool:
    """Return whether a peer of a rule is this end.

    Some network plugins match pods by an `ipBlock` too. The chart may not rest on that.
    """
    if "ipBlock" in peer:
        assert peer["ipBlock"].keys() == {"cidr"}
        network = ip_network(peer["ipBlock"]["cidr"])
        return bool(other.address) and ip_address(other.address) in network
    spaces = peer.get("namespaceSelector", {"matchLabels": {_NAME: NAMESPACE}})
    return (
        not other.address
        and _selects(spaces, {_NAME: other.namespace})
        and _selects(peer.get("podSelector", {}), other.labels)
    )


def _selects(selector: dict[str, Any], labels: Mapping[str, str]) -> bool:
    assert selector.keys() <= {"matchLabels"}, selector
    return selector.get("matchLabels", {}).items() <= labels.items()
