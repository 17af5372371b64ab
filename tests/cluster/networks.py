"""Network of this machine alone: a bridge, and a namespace with an address for each pod."""

import itertools
import os
import subprocess

PREFIX = "10.77"  # of all pods
_numbers = itertools.count(2)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Network:
    """Bridge that pods are connected to."""

    def __init__(self) -> None:
        self._bridge = f"lw{os.getpid()}"
        self._pods: list[str] = []

        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{PREFIX}.0.1/16", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")

    def close(self) -> None:
        """Take the network away."""
        for name in self._pods:
            _ip("netns", "del", name)
        _ip("link", "del", self._bridge)

    def connect(self) -> tuple[str, str]:
        """Return the namespace of a further pod, and its address."""
        number = next(_numbers)
        name, address = f"{self._bridge}-{number}", f"{PREFIX}.{number // 250}.{number % 250 + 1}"
        outer = f"{self._bridge}v{number}"
        _ip("netns", "add", name)
        self._pods.append(name)
        _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", outer, "master", self._bridge, "up")
        _ip("-n", name, "addr", "add", f"{address}/16", "dev", "eth0")
        for link in ("eth0", "lo"):
            _ip("-n", name, "link", "set", link, "up")
        return name, address
