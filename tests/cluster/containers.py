"""Runs containers as processes: each with its own mounts, network and user, and no capabilities.

The image of each container is this checkout with its virtual environment, whatever its name says.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.helm.charts import ROOT

_BOX = Path(__file__).with_name("pod.sh")
_COMMAND = Path(__file__).with_name(
    "lineward_command.py"
)  # that of the virtual environment names its path
_IMAGE_USER = 10001
_SOURCE, _PYTHON = "/opt/lineward/source", "/opt/lineward/python"


class Place(msgspec.Struct, frozen=True):
    """Resources that the containers of a pod share.

    Attributes:
        folder: for files about the pod.
        network: namespace of its network.
        address: of the pod in it.
        security: security context of the pod.
        volumes: folders by the names of volumes.
        secret: returns the value of a key of a Secret.
    """

    folder: Path
    network: str
    address: str
    security: Mapping[str, Any]
    volumes: Mapping[str, Path]
    secret: Callable[[str, str], str]

    @property
    def hosts(self) -> Path:
        """File with the names of Services."""
        return self.folder / "hosts"


class Container:
    """Container that runs as a process.

    Attributes:
        name: of the container.
        log: file with what it writes.
    """

    def __init__(self, given: dict[str, Any], pod: Place) -> None:
        self.name, self._given, self._pod = given["name"], given, pod
        self.log = pod.folder / f"{self.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        mounts = self._pod.folder / f"{self.name}.mounts"
        mounts.write_text("".join(f"{line}\n" for line in self._mounts()))
        both = {**self._pod.security, **self._given.get("securityContext", {})}
        uid = both.get("runAsUser", _IMAGE_USER)
        groups = self._pod.security.get("fsGroup", 0)
        user = [str(uid), str(uid), str(groups)]
        box = ["unshare", "--mount", "sh", str(_BOX), str(mounts), *user, "--"]
        command = [*("ip", "netns", "exec", self._pod.network), *box, *self._command()]
        with self.log.open("ab") as log:
            given = {"stdout": log, "stderr": log, "env": self._environment()}
            self._process = subprocess.Popen(command, start_new_session=True, **given)

    def exit_code(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self._process.poll() if self._process else None

    def stop(self, seconds: float) -> None:
        """End it as a kubelet does: SIGTERM, and after the grace period SIGKILL."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        with suppress(
            ProcessLookupError
        ):  # all processes of the container have ended by themselves
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def is_ready(self) -> bool:
        """Return what the readiness probe says; without one a container that runs is ready."""
        probe = self._given.get("readinessProbe")
        if probe is None or self.exit_code() is not None:
            return self.exit_code() is None
        ports = {one["name"]: one["containerPort"] for one in self._given["ports"]}
        request = probe["httpGet"]
        url = f"http://{self._pod.address}:{ports[request['port']]}{request['path']}"
        try:
            return httpx.get(url, timeout=5, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def _command(self) -> list[str]:
        entrypoint = self._given.get("command")
        if entrypoint is None:
            entrypoint = [f"{_PYTHON}/bin/python", "-m", "service.container"]
        return [*entrypoint, *self._given.get("args", [])]

    def _environment(self) -> dict[str, str]:
        """Return what the image sets, then what the pod sets."""
        given = {one["name"]: self._value(one) for one in self._given.get("env", [])}
        path = f"{_PYTHON}/bin:/usr/bin:/bin"
        return {"PATH": path, "PYTHONSAFEPATH": "1", "PYTHONPATH": _SOURCE} | given

    def _value(self, variable: dict[str, Any]) -> str:
        if "value" in variable:
            return str(variable["value"])
        reference = variable["valueFrom"]["secretKeyRef"]
        return self._pod.secret(reference["name"], reference["key"])

    def _mounts(self) -> Iterator[str]:
        yield f"{sys.base_prefix} {sys.base_prefix} ro"
        yield f"{ROOT} {_SOURCE} ro"
        yield f"{Path(sys.prefix).resolve()} {_PYTHON} ro"
        yield f"{_COMMAND} {_PYTHON}/bin/lineward ro"
        yield f"{self._pod.hosts} /etc/hosts ro"
        for mount in self._given.get("volumeMounts", []):
            source = self._pod.volumes[mount["name"]] / mount.get("subPath", "")
            yield f"{source} {mount['mountPath']} {'ro' if mount.get('readOnly') else 'rw'}"
