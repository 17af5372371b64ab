"""Kubernetes' own kube-proxy: virtual addresses of Services lead to pods that are ready.

It writes rules of nftables into the network of the node, and nowhere else.
"""

import subprocess
from pathlib import Path

import httpx

from tests.cluster.control_plane import BINARIES
from tests.cluster.networks import NODE_ADDRESS, Network
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

_HEALTH = f"http://{NODE_ADDRESS}:10256/healthz"


class ServiceProxy:
    """Process of a node."""

    def __init__(self, kubeconfig: Path, node: str, network: Network, folder: Path) -> None:
        """Start it, and wait until it has written its rules.

        Args:
            kubeconfig: with an address that the node reaches.
            node: name of the node, which must be registered.
            network: of the node.
            folder: for its log.
        """
        self._log = folder / "kube-proxy.log"
        command = [
            *("ip", "netns", "exec", network.node, "setpriv", "--pdeathsig", "KILL"),
            *(str(BINARIES / "kube-proxy"), "--proxy-mode=nftables"),
            *("--kubeconfig", str(kubeconfig), "--hostname-override", node),
            # A machine's limits of connections are not this namespace's to change.
            *("--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s"),
            "--conntrack-tcp-timeout-close-wait=0s",
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(self._works, describe=self.log)

    def log(self) -> str:
        """Return the end of what it has written."""
        return self._log.read_text()[-3_000:]

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(30)

    def _works(self) -> bool:
        assert self._process.poll() is None, self.log()
        try:
            return CLIENT.get(_HEALTH).is_success
        except httpx.TransportError:
            return False
