"""Check the NetworkPolicies: each pod has the connections that it needs, and no other."""

import itertools
import re
from collections.abc import Iterator

import pytest

from tests.helm.charts import ROOT, each_values_file, find_all, select
from tests.helm.network import DATABASES, OTHERS, Port, allow, list_ends, list_policies

pytestmark = pytest.mark.xdist_group("helm")

# OpenShift's pods of DNS listen on 5353, and a policy sees the port of the pod.
_DNS = {Port(number, protocol) for number in (53, 5353) for protocol in ("UDP", "TCP")}
_PORTS = _DNS | {
    *map(Port, (443, 3128, 5000, 5432, 6443, 7077, 7078, 7079)),
    *map(Port, (8700, 8701, 8702, 8703, 8704, 9000, 9092, 9093, 9098)),
    Port(8700, "UDP"),
}
_ONE = '[{"podSelector":{"matchLabels":{"app":"one"}}}]'
_NARROW = tuple(
    word
    for part in ("collector", "api")
    for word in ("--set-json", f"networkPolicy.ingress.{part}={_ONE}")
)

Connection = tuple[str, str, Port]


def _find_connections(name: str, *options: str) -> set[Connection]:
    """Return the connections to and from pods that are allowed, but those of `helm test`."""
    policies, pods = list_policies(name, *options), list_ends(name)
    pods.pop("test", None)
    ends = pods | OTHERS
    return {
        (source, target, port)
        for source, target, port in itertools.product(ends, ends, _PORTS)
        if (source in pods or target in pods) and allow(policies, ends[source], ends[target], port)
    }


def _read_page() -> Iterator[Connection]:
    """Yield the connections of the table in docs/kubernetes/network-policies.md."""
    page = (ROOT / "docs" / "kubernetes" / "network-policies.md").read_text()
    table = page.partition("| from | to | ports |\n|---|---|---|\n")[2].partition("\n\n")[0]
    for row in table.splitlines():
        source, target, ports = (cell.strip() for cell in row.strip("|").split("|"))
        for number in map(int, re.findall(r"\d+", ports)):
            yield from _spell_out(source, target, number)


def _spell_out(source: str, target: str, number: int) -> Iterator[Connection]:
    """Yield the connections that a row stands for."""
    sources = [name for name, end in OTHERS.items() if source == "any pod" and not end.address]
    targets = [name for name, end in OTHERS.items() if target == "any address" and end.address]
    protocols = ("UDP", "TCP") if target == "DNS" else ("TCP",)
    for each in itertools.product(sources or [source], targets or [target], protocols):
        yield *each[:2], Port(number, each[2])


def test_pods_have_the_connections_of_the_page_and_no_other():
    """Evaluate all pairs of ends and all ports; compare with network-policies.md."""
    assert _find_connections("scaled") == set(_read_page())


def test_a_pipeline_without_executors_takes_no_connection():
    """Evaluate the policies of a pipeline that is a Deployment: it asks no API server."""
    found = {one[1:] for one in _find_connections("scaled-deployment") if one[0] == "pipeline"}
    entering = [one for one in _find_connections("scaled-deployment") if one[1] == "pipeline"]

    https = {(name, Port(443)) for name, end in OTHERS.items() if end.address}
    servers = {("private address", Port(number)) for number in (5432, 9098)}
    assert found == {("DNS", port) for port in _DNS} | https | servers
    assert entering == []


def test_the_embedded_pod_has_the_connections_of_the_values():
    """Evaluate the policy of a pod with everything on: a proxy, PostgreSQL and the API server."""
    found = {one for one in _find_connections("full") if one[0] == "embedded"}
    entering = {one for one in _find_connections("full") if one[1] == "embedded"}

    pods = [name for name, end in OTHERS.items() if not end.address]
    addresses = [name for name, end in OTHERS.items() if end.address]
    assert entering == {
        *((name, "embedded", Port(number)) for name in pods for number in (8700, 8701)),
        ("`monitoring`", "embedded", Port(8702)),
    }
    assert {one[1:] for one in found} == {
        *(("DNS", port) for port in _DNS),
        *((name, Port(443)) for name in addresses),
        ("API server", Port(6443)),
        ("private address", Port(3128)),
    }
    pod = list_ends("full")["embedded"]
    assert allow(list_policies("full"), pod, DATABASES["full"], Port(5432))


@pytest.mark.parametrize(("name", "component"), [("full", "embedded"), ("scaled", "service")])
def test_postgresql_is_reached_on_the_port_of_the_values(name, component):
    """Change `catalog.port`: the port of before is closed."""
    policies = list_policies(name, "--set", "catalog.port=6432")
    pod = list_ends(name)[component]

    opened = {port: allow(policies, pod, DATABASES[name], Port(port)) for port in (5432, 6432)}

    assert opened == {5432: False, 6432: True}


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("embedded", {("embedded", 8700), ("embedded", 8701)}),
        ("scaled", {("collector", 8700), ("service", 8701)}),
    ],
)
def test_the_pod_of_helm_test_needs_no_opening_of_its_own(name, reached):
    """Admit one sender and one reader alone: the pod reaches both ports all the same."""
    policies, pods = list_policies(name, *_NARROW), list_ends(name)
    test = pods.pop("test")

    assert {
        (target, port.number)
        for target, port in itertools.product(pods, _PORTS)
        if allow(policies, test, pods[target], port)
    } == reached


def test_ports_that_take_tokens_may_be_closed_too():
    """Admit one sender and one reader alone: of the release, those that post events remain."""
    found = _find_connections("scaled", *_NARROW)

    assert {one[0] for one in found if one[1:] == ("collector", Port(8700))} == {
        *("service", "kafka", "marquez", "`monitoring`"),
    }
    assert [one for one in found if one[1:] == ("service", Port(8701))] == []


_CLOSED = ",".join(
    f"networkPolicy.{part}=null"
    for part in ("ingress.collector", "ingress.api", "ingress.metrics", "egress.dns")
)


@pytest.mark.parametrize("name", ["embedded", "scaled"])
def test_empty_peers_open_nothing(name):
    """Name nobody: a rule without peers would admit everybody."""
    found = _find_connections(name, "--set", f"{_CLOSED},networkPolicy.egress.https=null")

    assert [one for one in found if one[0] in OTHERS] == []
    assert [one for one in found if one[1] in {"DNS", "any address", "any pod"}] == []


@each_values_file
def test_every_pod_has_one_network_policy(name):
    """Check that no pod is left open, but for that of `helm test`."""
    closed = [one["spec"]["podSelector"]["matchLabels"] for one in find_all(name, "NetworkPolicy")]
    covered = [
        pod["metadata"]["labels"]["app.kubernetes.io/component"]
        for labels in closed
        for pod in select(name, labels)
    ]

    assert sorted(covered) == sorted(list_ends(name).keys() - {"test"})
