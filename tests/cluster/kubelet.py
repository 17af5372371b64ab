"""Node whose pods run as processes on this machine."""

import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import structlog

from tests.cluster.api import Api, RejectedError
from tests.cluster.containers import Container, Place
from tests.cluster.networks import Network
from tests.cluster.nodes import register
from tests.cluster.volumes import Volumes, read_secret
from tests.helm.charts import Manifest

NODE = "node-of-processes"
_PAUSE_SECONDS = 0.3
_log = structlog.get_logger()


class Pod:
    """Pod of the node, followed by a thread of its own."""

    def __init__(self, api: Api, manifest: Manifest, folder: Path, network: Network) -> None:
        self.manifest, self._api = manifest, api
        self.name = manifest["metadata"]["name"]
        namespace, self.address = network.connect()
        folder.mkdir(parents=True)
        volumes = Volumes(api, manifest, folder)
        spec = manifest["spec"]
        made = {one["name"]: volumes.make(one) for one in spec.get("volumes", [])}
        security = spec.get("securityContext", {})
        secret = read_secret(api, manifest["metadata"]["namespace"])
        place = Place(folder, namespace, self.address, security, made, secret)
        self.hosts = place.hosts
        self._first = [Container(one, place) for one in spec.get("initContainers", [])]
        self.containers = [Container(one, place) for one in spec["containers"]]
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        """Run the init containers one after the other, then the containers."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End the containers."""
        self._stopping.set()
        for one in self.containers:
            one.stop(seconds)
        self._thread.join(30)

    def log(self) -> str:
        """Return what its containers have written."""
        files = [one.log for one in (*self._first, *self.containers) if one.log.exists()]
        return "\n".join(f"{file.stem}: {file.read_text()[-3_000:]}" for file in files)

    def _run(self) -> None:
        for one in self._first:
            one.start()
            while one.exit_code() is None and not self._stopping.wait(_PAUSE_SECONDS):
                pass
            if one.exit_code() != 0:
                self._report("Failed", is_ready=False)
                return
        for one in self.containers:
            one.start()
        is_kept = self.manifest["spec"].get("restartPolicy") != "Never"
        while not self._stopping.wait(_PAUSE_SECONDS):
            codes = [one.exit_code() for one in self.containers]
            if is_kept or None in codes:  # one that ends stays so: the test fails with its log
                self._report("Running", is_ready=all(one.is_ready() for one in self.containers))
                continue
            self._report("Failed" if any(codes) else "Succeeded", is_ready=False)
            return

    def _report(self, phase: str, *, is_ready: bool) -> None:
        """Write the pod's status where it changes."""
        status = _status(self.manifest, phase, self.address, is_ready=is_ready)
        path = self._api.path_of({"apiVersion": "v1", "kind": "Pod", **self.manifest})
        try:
            self._api.ask("PATCH", f"{path}/status", {"status": status})
        except (RejectedError, httpx.TransportError) as error:
            _log.info("pod_report_failed", pod=self.name, reason=str(error))  # again in a moment


class Kubelet:
    """Node of processes; its pods by uid."""

    def __init__(self, api: Api, folder: Path, network: Network) -> None:
        self._api, self._folder, self._network = api, folder, network
        self.pods: dict[str, Pod] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="kubelet", daemon=True)

    def start(self) -> None:
        """Register the node, and run what is scheduled on it from now on."""
        register(self._api, NODE)
        self._thread.start()

    def stop(self) -> None:
        """End all pods, and take the node away."""
        self._stopping.set()
        self._thread.join(60)
        for pod in self.pods.values():
            pod.stop(0)
        self._api.ask("DELETE", f"/api/v1/nodes/{NODE}")

    def logs(self) -> str:
        """Return what all containers have written."""
        return "\n".join(f"== {pod.name}\n{pod.log()}" for pod in self.pods.values())

    def _run(self) -> None:
        while not self._stopping.wait(_PAUSE_SECONDS):
            try:
                for one in self._api.get("/api/v1/pods", fieldSelector=f"spec.nodeName={NODE}")[
                    "items"
                ]:
                    self._follow({"apiVersion": "v1", "kind": "Pod", **one})
            except (RejectedError, httpx.TransportError) as error:
                _log.info("kubelet_failed", reason=str(error))  # seen again in the next round

    def _follow(self, manifest: Manifest) -> None:
        metadata = manifest["metadata"]
        uid = metadata["uid"]
        if "deletionTimestamp" in metadata:
            if (pod := self.pods.get(uid)) is not None:
                pod.stop(metadata.get("deletionGracePeriodSeconds", 30))
            self._api.ask("DELETE", self._api.path_of(manifest), gracePeriodSeconds="0")
        elif uid not in self.pods:
            pod = Pod(self._api, manifest, self._folder / uid, self._network)
            pod.hosts.write_text(self._hosts(metadata["namespace"]))
            self.pods[uid] = pod
            pod.start()

    def _hosts(self, namespace: str) -> str:
        """Return a line for each Service whose pod runs, in place of DNS and a virtual address."""
        lines = ["127.0.0.1 localhost"]
        for service in self._api.get(f"/api/v1/namespaces/{namespace}/services")["items"]:
            name, wanted = service["metadata"]["name"], service["spec"].get("selector") or {}
            for pod in self.pods.values():
                metadata = pod.manifest["metadata"]
                if (
                    metadata["namespace"] == namespace
                    and wanted.items() <= metadata["labels"].items()
                ):
                    lines.append(f"{pod.address} {name} {name}.{namespace}.svc")
        return "".join(f"{line}\n" for line in lines)


def _status(manifest: Manifest, phase: str, address: str, *, is_ready: bool) -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    state = (
        {"running": {"startedAt": now}}
        if phase == "Running"
        else {"terminated": {"exitCode": int(phase == "Failed")}}
    )
    containers = [
        {
            "name": one["name"],
            "image": one["image"],
            "imageID": "checkout",
            "ready": is_ready,
            "restartCount": 0,
            "state": state,
        }
        for one in manifest["spec"]["containers"]
    ]
    conditions = [{"type": "Initialized", "status": "True"}] + [
        {"type": name, "status": str(is_ready)} for name in ("ContainersReady", "Ready")
    ]
    addresses = {"podIP": address, "podIPs": [{"ip": address}]}
    return {"phase": phase, **addresses, "conditions": conditions, "containerStatuses": containers}
