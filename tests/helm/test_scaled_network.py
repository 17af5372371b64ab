"""Check the NetworkPolicies: each component reaches what it needs, and no more."""

import pytest

from tests.helm.charts import each_scaled, each_values_file, find_all, list_pods, render, select

pytestmark = pytest.mark.xdist_group("helm")


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


# OpenShift's pods of DNS listen on 5353, and a policy sees the port of the pod.
_DNS = (53, 5353)


def _egress(name: str, component: str) -> set[int]:
    (policy,) = [
        one
        for one in find_all(name, "NetworkPolicy")
        if one["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == component
    ]
    return {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}


def test_each_component_opens_what_it_needs():
    """Check the ports that each component reaches: collectors reach no database."""
    assert _egress("scaled", "collector") == {*_DNS, 9093}
    assert _egress("scaled", "service") == {*_DNS, 443, 5432, 9000, 6443, 8700}
    assert _egress("scaled", "pipeline") == {*_DNS, 443, 5432, 9093, 9000, 6443, 7079}
    assert _egress("scaled", "executor") == {*_DNS, 443, 9093, 9000, 7078, 7079}
    assert _egress("scaled", "kafka") == {*_DNS, 9092, 8700}
    assert _egress("scaled", "marquez") == {*_DNS, 5000, 5432, 8700}
    assert _egress("scaled", "kubernetes") == {*_DNS, 443, 6443, 5432}
    assert _egress("scaled-deployment", "pipeline") == {*_DNS, 443, 5432, 9098}


def test_empty_peers_open_nothing():
    """Render empty lists of peers: a rule without peers would admit everybody."""
    off = "networkPolicy.ingress.collector=null,networkPolicy.ingress.metrics=null"
    off += ",networkPolicy.egress.dns=null,networkPolicy.egress.https=null"
    for one in render("scaled", "--set", off):
        if one["kind"] == "NetworkPolicy":
            spec = one["spec"]
            assert all(rule["from"] for rule in spec["ingress"] or [])
            assert all(rule["to"] for rule in spec["egress"] or [])


@each_values_file
def test_dns_is_open_by_both_protocols(name):
    """Check both ports of DNS, in every policy that opens one of them."""
    wanted = [(port, protocol) for port in _DNS for protocol in ("UDP", "TCP")]
    for one in find_all(name, "NetworkPolicy"):
        opened = [
            [(port["port"], port.get("protocol")) for port in rule["ports"]]
            for rule in one["spec"]["egress"]
        ]
        assert wanted in opened
