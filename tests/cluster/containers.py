"""Runs containers as processes: each with its own mounts, network and user, and no capabilities.

The image of each container is this checkout with its virtual environment, whatever its name says.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tests.cluster.probes import Probes
from tests.helm.charts import ROOT

BOX = Path(__file__).with_name("pod.sh")
_COMMAND = Path(__file__).with_name(
    "lineward_command.py"
)  # that of the virtual environment names its path
_IMAGE_USER = 10001
_SOURCE, _PYTHON = "/opt/lineward/source", "/opt/lineward/python"
_MAIN = ROOT / "helm" / "image" / "pipeline.py"
_HANGING_SECONDS = 30.0  # that a container has to end after its liveness probe has failed
_LONGEST_PAUSE_SECONDS = 60.0


class Place(msgspec.Struct, frozen=True):
    """Resources that the containers of a pod share.

    Attributes:
        folder: for files about the pod.
        network: namespace of its network.
        fields: values that variables refer to, by their paths.
        security: security context of the pod.
        volumes: folders by the names of volumes.
        secret: returns the value of a key of a Secret.
    """

    folder: Path
    network: str
    fields: Mapping[str, str]
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
        is_sidecar: whether it is an init container that stays.
        log: file with what it writes.
        restarts: how often it was started again.
        started_at: when it was started last.
    """

    def __init__(self, given: dict[str, Any], pod: Place) -> None:
        self.name, self._given, self._pod = given["name"], given, pod
        self.is_sidecar = given.get("restartPolicy") == "Always"
        self.log = pod.folder / f"{self.name}.log"
        self.restarts, self.started_at = 0, ""
        self._not_before = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        mounts = self._pod.folder / f"{self.name}.mounts"
        mounts.write_text("".join(f"{line}\n" for line in self._mounts()))
        both = {**self._pod.security, **self._given.get("securityContext", {})}
        uid = both.get("runAsUser", _IMAGE_USER)
        groups = self._pod.security.get("fsGroup", 0)
        who = [str(uid), str(uid), str(groups), self._pod.fields["metadata.name"]]
        box = ["unshare", "--mount", "--uts", "sh", str(BOX), str(mounts), *who, "--"]
        command = [*("ip", "netns", "exec", self._pod.network), *box, *self._command()]
        self._probes = Probes(self._given, self._pod.fields["status.podIP"])
        self.started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self.log.open("ab") as log:
            given = {"stdout": log, "stderr": log, "env": self._environment()}
            self._process = subprocess.Popen(command, start_new_session=True, **given)

    def exit_code(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self._process.poll() if self._process else None

    def look(self, *, is_kept: bool) -> None:
        """Ask its probes; start it again where it has ended or hangs, if it is to be kept."""
        has_ended = self.exit_code() is not None
        if not has_ended:
            self._probes.ask()
        if (has_ended or self._probes.want_restart()) and is_kept:
            self._restart()

    def stop(self, seconds: float) -> None:
        """End it as a kubelet does: its own pause, SIGTERM, and after the grace period SIGKILL.

        Without a grace period it is killed at once.
        """
        if self._process is None or self._process.poll() is not None:
            return
        hook = self._given.get("lifecycle", {}).get("preStop", {})
        pause = min(seconds, hook.get("sleep", {}).get("seconds", 0))
        self._await_end(pause)
        if seconds:
            self._process.send_signal(signal.SIGTERM)
        self._await_end(seconds - pause)
        with suppress(
            ProcessLookupError
        ):  # all processes of the container have ended by themselves
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def is_ready(self) -> bool:
        """Return whether it runs and its readiness probe passes, where it has one."""
        return self.exit_code() is None and self._probes.are_ready()

    def _restart(self) -> None:
        """Start it again, after a pause that grows."""
        if time.monotonic() < self._not_before:
            return
        self.stop(_HANGING_SECONDS)
        self.restarts += 1
        self._not_before = time.monotonic() + min(2**self.restarts, _LONGEST_PAUSE_SECONDS)
        self.start()

    def _await_end(self, seconds: float) -> None:
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _command(self) -> list[str]:
        entrypoint = self._given.get("command")
        if entrypoint is None:
            entrypoint = [f"{_PYTHON}/bin/python", "-m", "service.runtime.container"]
        return [*entrypoint, *self._given.get("args", [])]

    def _environment(self) -> dict[str, str]:
        """Return what the image sets, then what the pod sets."""
        given = {one["name"]: self._value(one) for one in self._given.get("env", [])}
        path = f"{_PYTHON}/bin:/usr/bin:/bin"
        return {"PATH": path, "PYTHONSAFEPATH": "1", "PYTHONPATH": _SOURCE} | given

    def _value(self, variable: dict[str, Any]) -> str:
        if "valueFrom" not in variable:
            return str(variable.get("value", ""))
        source = variable["valueFrom"]
        if "fieldRef" in source:
            return self._pod.fields[source["fieldRef"]["fieldPath"]]
        reference = source["secretKeyRef"]
        return self._pod.secret(reference["name"], reference["key"])

    def _mounts(self) -> Iterator[str]:
        yield f"{sys.base_prefix} {sys.base_prefix} ro"
        yield f"{ROOT} {_SOURCE} ro"
        yield f"{Path(sys.prefix).resolve()} {_PYTHON} ro"
        yield f"{_COMMAND} {_PYTHON}/bin/lineward ro"
        yield f"{_MAIN} /opt/lineward/spark/{_MAIN.name} ro"
        yield f"{self._pod.hosts} /etc/hosts ro"
        for mount in self._given.get("volumeMounts", []):
            source = self._pod.volumes[mount["name"]] / mount.get("subPath", "")
            yield f"{source} {mount['mountPath']} {'ro' if mount.get('readOnly') else 'rw'}"
