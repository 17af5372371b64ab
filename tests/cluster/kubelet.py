"""Node whose pods run as processes on this machine."""

from pathlib import Path
from threading import Event, Thread

import httpx
import structlog

from tests.cluster.api import Api, RejectedError
from tests.cluster.networks import NODE_ADDRESS, Network
from tests.cluster.nodes import register
from tests.cluster.pods import Pod
from tests.helm.charts import Manifest

NODE = "node-of-processes"
_PAUSE_SECONDS = 0.3
_log = structlog.get_logger()


class Kubelet:
    """Node of processes; its pods by uid."""

    def __init__(self, api: Api, folder: Path, network: Network) -> None:
        self._api, self._folder, self._network = api, folder, network
        self.pods: dict[str, Pod] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="kubelet", daemon=True)

    def start(self) -> None:
        """Register the node, and run what is scheduled on it from now on."""
        register(self._api, NODE, NODE_ADDRESS)
        self._thread.start()

    def stop(self) -> None:
        """End all pods, and take the node away."""
        self._stopping.set()
        self._thread.join(60)
        for pod in self.pods.values():
            pod.end(0)
        for pod in self.pods.values():
            pod.join()
        self._api.ask("DELETE", f"/api/v1/nodes/{NODE}")

    def logs(self) -> str:
        """Return the end of what all containers have written."""
        return "\n".join(f"== {pod.name}\n{pod.log()}" for pod in self.pods.values())

    def _run(self) -> None:
        while not self._stopping.wait(_PAUSE_SECONDS):
            try:
                self._follow()
            except (RejectedError, httpx.TransportError) as error:
                _log.info("kubelet_failed", reason=str(error))  # seen again in the next round

    def _follow(self) -> None:
        mine = self._api.get("/api/v1/pods", fieldSelector=f"spec.nodeName={NODE}")["items"]
        manifests = {one["metadata"]["uid"]: one for one in mine}
        for uid, manifest in manifests.items():
            if uid not in self.pods:
                self._start({"apiVersion": "v1", "kind": "Pod", **manifest})
            elif "deletionTimestamp" in manifest["metadata"]:
                self.pods[uid].end(manifest["metadata"].get("deletionGracePeriodSeconds", 30))
        for uid in self.pods.keys() - manifests.keys():  # deleted by force
            self.pods[uid].end(0)

    def _start(self, manifest: Manifest) -> None:
        uid = manifest["metadata"]["uid"]
        self.pods[uid] = Pod(self._api, manifest, self._folder / uid, self._network)
        self.pods[uid].start()
