"""Pod of the node of processes, followed by a thread of its own."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import structlog

from tests.cluster.api import Api, RejectedError
from tests.cluster.containers import Container, Place
from tests.cluster.names import list_names
from tests.cluster.networks import NODE_ADDRESS, Network
from tests.cluster.volumes import Volumes, read_secret
from tests.helm.charts import Manifest

_PAUSE_SECONDS = 0.3
_log = structlog.get_logger()


class Pod:
    """Pod that runs as processes.

    Attributes:
        manifest: of the pod, as it was scheduled.
        name: of the pod.
        address: of the pod.
    """

    def __init__(self, api: Api, manifest: Manifest, folder: Path, network: Network) -> None:
        self.manifest, self._api, self._folder = manifest, api, folder
        self.name = manifest["metadata"]["name"]
        self._path = api.path_of({"apiVersion": "v1", "kind": "Pod", **manifest})
        self._namespace, self.address = network.connect()
        self._containers: list[Container] = []
        self._reported: dict[str, Any] = {}
        self._ending, self._seconds = Event(), 0.0
        self._thread = Thread(target=self._run, name=self.name, daemon=True)
        folder.mkdir(parents=True)

    def start(self) -> None:
        """Run the init containers one after the other, then the containers."""
        self._thread.start()

    def end(self, seconds: float) -> None:
        """Begin to end the containers, and delete the pod's object when they have ended."""
        if not self._ending.is_set():
            self._seconds = seconds
            self._ending.set()

    def join(self) -> None:
        """Wait until the pod has ended."""
        self._thread.join(60)

    def log(self) -> str:
        """Return the end of what its containers have written."""
        files = sorted(self._folder.glob("*.log"))
        return "\n".join(f"{file.stem}: {file.read_text()[-3_000:]}" for file in files)

    def restarts(self) -> int:
        """Return how often a container was started again."""
        return sum(one.restarts for one in self._containers)

    def _run(self) -> None:
        try:
            if (place := self._await_place()) is not None and self._run_first(place):
                self._run_containers(place)
        finally:
            self._end()

    def _await_place(self) -> Place | None:
        """Return the volumes and all else that containers share, once the objects are there."""
        while not self._ending.wait(_PAUSE_SECONDS):
            try:
                return self._make_place()
            except (RejectedError, httpx.TransportError) as error:
                _log.info("pod_waits", pod=self.name, reason=str(error))
        return None

    def _make_place(self) -> Place:
        metadata, spec = self.manifest["metadata"], self.manifest["spec"]
        volumes = Volumes(self._api, self.manifest, self._folder)
        fields = {
            **{f"metadata.{name}": metadata[name] for name in ("name", "namespace", "uid")},
            "status.podIP": self.address,
            "status.hostIP": NODE_ADDRESS,
        }
        place = Place(
            self._folder,
            self._namespace,
            fields,
            spec.get("securityContext", {}),
            {one["name"]: volumes.make(one) for one in spec.get("volumes", [])},
            read_secret(self._api, metadata["namespace"]),
        )
        names = list_names(self._api, metadata["namespace"])
        place.hosts.write_text(f"{names}{self.address} {self.name}\n")
        return place

    def _run_first(self, place: Place) -> bool:
        """Run the init containers, and return whether all have done their work."""
        for one in self._start(place, "initContainers"):
            while not one.is_sidecar and one.exit_code() is None:
                if self._ending.wait(_PAUSE_SECONDS):
                    return False
            if one.exit_code():
                self._report("Failed")
                return False
        return True

    def _run_containers(self, place: Place) -> None:
        """Run the containers until the pod is to end, or has done its work."""
        main = list(self._start(place, "containers"))
        is_kept = self.manifest["spec"].get("restartPolicy") != "Never"
        followed = [one for one in self._containers if one.is_sidecar or one in main]
        while not self._ending.wait(_PAUSE_SECONDS):
            codes = [one.exit_code() for one in main]
            if not is_kept and None not in codes:
                self._report("Failed" if any(codes) else "Succeeded")
                return
            for one in followed:
                one.look(is_kept=is_kept)
            self._report("Running")

    def _start(self, place: Place, kind: str) -> Iterator[Container]:
        for given in self.manifest["spec"].get(kind, []):
            self._containers.append(Container(given, place))
            self._containers[-1].start()
            yield self._containers[-1]

    def _end(self) -> None:
        """End the containers, sidecars last; then delete the object, if the pod is to end."""
        deadline = time.monotonic() + self._seconds
        for one in sorted(self._containers, key=lambda each: each.is_sidecar):
            one.stop(max(0.0, deadline - time.monotonic()))
        self._ending.wait()
        try:
            self._api.ask("DELETE", self._path, gracePeriodSeconds="0")
        except (RejectedError, httpx.TransportError) as error:
            _log.info("pod_not_deleted", pod=self.name, reason=str(error))  # gone already

    def _report(self, phase: str) -> None:
        """Write the pod's status where it has changed."""
        status = _status(self.manifest, phase, self.address, self._containers)
        if status == self._reported:
            return
        try:
            self._api.ask("PATCH", f"{self._path}/status", {"status": status})
        except (RejectedError, httpx.TransportError) as error:
            _log.info("pod_report_failed", pod=self.name, reason=str(error))  # again in a moment
        else:
            self._reported = status


def _status(
    manifest: Manifest, phase: str, address: str, containers: list[Container]
) -> dict[str, Any]:
    names = {one["name"] for one in manifest["spec"]["containers"]}
    main = [one for one in containers if one.name in names]
    is_ready = phase == "Running" and all(one.is_ready() for one in main)
    conditions = [{"type": "Initialized", "status": "True"}] + [
        {"type": name, "status": str(is_ready)} for name in ("ContainersReady", "Ready")
    ]
    return {
        "phase": phase,
        "hostIP": NODE_ADDRESS,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": conditions,
        "initContainerStatuses": [_container_status(one) for one in containers if one not in main],
        "containerStatuses": [_container_status(one) for one in main],
    }


def _container_status(container: Container) -> dict[str, Any]:
    code = container.exit_code()
    times = {"startedAt": container.started_at}
    state = {"running": times} if code is None else {"terminated": {**times, "exitCode": code}}
    return {
        "name": container.name,
        "image": "checkout",
        "imageID": "checkout",
        "ready": container.is_ready(),
        "started": code is None,
        "restartCount": container.restarts,
        "state": state,
    }
