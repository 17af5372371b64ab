"""Bind the ports of each role to `::`, as in a cluster with IPv6, and ask by both protocols."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.collector.running import descendants
from tests.e2e.running import free_port
from tests.service.commandline import environ
from tests.suite.classes import interpreter_variables
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

_NOWHERE = "127.0.0.1:1"  # servers that are away: a role is alive meanwhile
_SETTINGS = {
    "LINEWARD_HOST": "::",
    "LINEWARD_INSECURE": "true",
    **{f"LINEWARD_{name}_PORT": "0" for name in ("COLLECTOR", "SERVICE", "METRICS", "LOG")},
}
_HEALTH = ("LINEWARD_HEALTH_PORT",)
_SERVICE = ("LINEWARD_SERVICE_PORT", "LINEWARD_METRICS_PORT")
# Variables of the ports that each role has, and of what it needs to start.
_ROLES = {
    "up": (("LINEWARD_COLLECTOR_PORT", *_SERVICE), {}),
    "collector": (("LINEWARD_COLLECTOR_PORT",), {}),
    "shipper": (("LINEWARD_LOG_PORT",), {"LINEWARD_LOG": f"kafka://{_NOWHERE}/lineward.log"}),
    "service": (_SERVICE, {}),
    "pipeline": (_HEALTH, {}),
    "kafka": (_HEALTH, {"LINEWARD_KAFKA_BOOTSTRAP": _NOWHERE}),
    "marquez run": (_HEALTH, {"LINEWARD_MARQUEZ_URL": f"http://{_NOWHERE}"}),
    "kubernetes": (
        _HEALTH,
        {
            "LINEWARD_KUBERNETES_URL": f"https://{_NOWHERE}",
            "LINEWARD_KUBERNETES_NAMESPACES": "jobs",
        },
    ),
}


class Role:
    """Process of one role.

    Attributes:
        ports: that Kubernetes asks.
    """

    def __init__(self, name: str, folder: Path) -> None:
        variables, own = _ROLES[name]
        self.ports = [free_port() for _ in variables]
        self._log, data = folder / "role.log", folder / name.replace(" ", "-")
        data.mkdir()
        ports = {variable: f"{port}" for variable, port in zip(variables, self.ports, strict=True)}
        given = _SETTINGS | own | ports | {"LINEWARD_DATA_DIR": f"{data}"}
        command = [sys.executable, "-m", "service.runtime.container", *name.split()]
        with self._log.open("wb") as log:
            started = {
                "env": environ(**interpreter_variables(), **given),
                "stdout": log,
                "stderr": log,
            }
            self.process = subprocess.Popen(command, **started)

    def answers(self, address: str, port: int) -> bool:
        """Return whether the role says on this address that it is alive."""
        assert self.process.poll() is None, self.log()
        try:
            return CLIENT.get(f"http://{address}:{port}/livez").is_success
        except httpx.TransportError:
            return False

    def log(self) -> str:
        """Return what the role has written."""
        return self._log.read_text()

    def kill(self) -> None:
        """End the role with its children; a shipper would try for 20 s to ship."""
        children = descendants(self.process.pid)
        self.process.kill()
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(60)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Role]]:
    """Return a function that starts a role; it is killed in the end."""
    started: list[Role] = []

    def start_role(name: str) -> Role:
        started.append(Role(name, tmp_path))
        return started[-1]

    yield start_role
    for role in started:
        role.kill()


@pytest.mark.parametrize("name", _ROLES)
def test_a_role_on_all_addresses_answers_by_ipv6_and_by_ipv4(start, name):
    """Ask its liveness as a kubelet does: a pod has an address of one protocol, or of both."""
    role = start(name)

    for address, port in itertools.product(("[::1]", "127.0.0.1"), role.ports):
        until(lambda end=(address, port): role.answers(*end), describe=role.log)
