"""Network of this machine alone: a node that routes, and a namespace with an address for each pod.

The node is a namespace of its own, so that its routes, its forwarding and the rules of kube-proxy
are gone with it. Pods reach this machine by its address `HOST`, and this machine reaches pods and
virtual addresses of Services by routes over the node.
"""

import itertools
import os
import re
import subprocess
from pathlib import Path

from tests.suite.waiting import is_running

PREFIX = "10.77"  # of all pods
SERVICES = "10.96.0.0/16"  # virtual addresses
SERVICES_IPV6 = "fd00:96::/108"  # of Services that ask for both families; nothing leads there
HOST, NODE_ADDRESS = "10.78.0.1", "10.78.0.2"  # this machine, and the node, on their own link
ADDRESSES = "10.76.0.0/14"  # pods, node and this machine
HOSTS = ["127.0.0.1", "localhost", ADDRESSES, SERVICES]  # that tests may connect to
_GATEWAY = f"{PREFIX}.0.1"  # the node, as pods see it
_numbers = itertools.count(2)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _delete_leftovers() -> None:
    """Delete the networks of runs that were killed: their routes are those of the next run."""
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        name = line.split()[0]
        owner = re.match(r"lw(\d+)", name)
        if owner and not is_running(int(owner[1])):
            _delete(name)


def _delete(name: str) -> None:
    """Delete a namespace, and its link first: the kernel would delete the link some time later."""
    if Path("/sys/class/net", name).exists():
        _ip("link", "del", name)
    _ip("netns", "del", name)


class Network:
    """Node that pods are connected to.

    Attributes:
        node: namespace of the node.
    """

    def __init__(self) -> None:
        self.node = f"lw{os.getpid()}"
        self._namespaces: list[str] = []

    def open(self) -> None:
        """Make the node, and routes over it."""
        _delete_leftovers()
        self._add_namespace(self.node)
        _ip("link", "add", self.node, "type", "veth", "peer", "name", "eth0", "netns", self.node)
        _ip("addr", "add", f"{HOST}/30", "dev", self.node)
        _ip("link", "set", self.node, "up")
        self._in_node("addr", "add", f"{NODE_ADDRESS}/30", "dev", "eth0")
        self._in_node("addr", "add", f"{_GATEWAY}/32", "dev", "lo")
        for link in ("eth0", "lo"):
            self._in_node("link", "set", link, "up")
        forward = ["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]
        subprocess.run(["ip", "netns", "exec", self.node, *forward], check=True)
        for addresses in (f"{PREFIX}.0.0/16", SERVICES):
            _ip("route", "add", addresses, "via", NODE_ADDRESS, "dev", self.node)

    def close(self) -> None:
        """Take the network away: routes end with the node's link."""
        for name in self._namespaces:
            _delete(name)

    def connect(self) -> tuple[str, str]:
        """Return the namespace of a further pod, and its address."""
        number = next(_numbers)
        name, address = f"{self.node}-{number}", f"{PREFIX}.{number // 250}.{number % 250 + 1}"
        outer = f"pod{number}"
        self._add_namespace(name)
        self._in_node("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        self._in_node("link", "set", outer, "up")
        self._in_node("route", "add", f"{address}/32", "dev", outer)
        _ip("-n", name, "addr", "add", f"{address}/32", "dev", "eth0")
        for link in ("eth0", "lo"):
            _ip("-n", name, "link", "set", link, "up")
        _ip("-n", name, "route", "add", _GATEWAY, "dev", "eth0")
        _ip("-n", name, "route", "add", "default", "via", _GATEWAY)
        return name, address

    def _add_namespace(self, name: str) -> None:
        _ip("netns", "add", name)
        self._namespaces.append(name)

    def _in_node(self, *words: str) -> None:
        _ip("-n", self.node, *words)
