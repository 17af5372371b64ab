"""Nodes without kubelets: a thread reports on pods and volumes in their place.

No container runs. Admission, controllers, scheduler and API are real. The thread reports that pods
are ready, that deleted ones have ended, and that claims have volumes.
"""

from threading import Event, Thread

import httpx
import structlog

from tests.cluster.api import Api, RejectedError
from tests.helm.charts import Manifest

NAMES = ("node-a", "node-b")
_PAUSE_SECONDS = 0.2
_CAPACITY = {"cpu": "64", "memory": "256Gi", "pods": "500", "ephemeral-storage": "1Ti"}
_READY = [{"type": name, "status": "True"} for name in ("Initialized", "ContainersReady", "Ready")]
_log = structlog.get_logger()


def register(api: Api, name: str, address: str | None = None) -> None:
    """Register a node that is ready, and has this address."""
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": f"zone-of-{name}",
    }
    metadata = {"name": name, "labels": labels}
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    ready = [{"type": "Ready", "status": "True", "reason": "Test", "message": "no kubelet"}]
    status = {"capacity": _CAPACITY, "allocatable": _CAPACITY, "conditions": ready}
    if address is not None:
        status["addresses"] = [{"type": "InternalIP", "address": address}]
    api.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": status})
    # Admission marks new nodes as not ready; the controller that removes the mark is not run.
    api.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}})


class Nodes:
    """Nodes of one cluster.

    Attributes:
        is_slow: while it is set, no further pod becomes ready.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._stopping, self.is_slow = Event(), Event()
        self._thread = Thread(target=self._run, name="nodes", daemon=True)
        self._addresses = 0
        self._provided: set[str] = set()

    def start(self) -> None:
        """Register the nodes, and report from now on."""
        for name in NAMES:
            register(self._api, name)
        self._thread.start()

    def stop(self) -> None:
        """End the reports."""
        self._stopping.set()
        self._thread.join(30)

    def cordon(self, name: str) -> None:
        """Schedule no further pod on a node, as `kubectl cordon` does."""
        self._api.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}})

    def uncordon(self, name: str) -> None:
        """Schedule pods on a node again."""
        self._api.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": None}})

    def _run(self) -> None:
        while not self._stopping.wait(_PAUSE_SECONDS):
            try:
                self._report()
            except (RejectedError, httpx.TransportError) as error:
                # What changed meanwhile, or a server that restarts, is seen in the next round.
                _log.info("nodes_report_failed", reason=str(error))

    def _report(self) -> None:
        for claim in self._api.get("/api/v1/persistentvolumeclaims")["items"]:
            if claim["metadata"]["uid"] not in self._provided:
                self._provide(claim)
        for pod in self._api.get("/api/v1/pods")["items"]:
            if pod["spec"].get("nodeName") in NAMES:
                self._follow(pod)

    def _provide(self, claim: Manifest) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        reference = {"namespace": metadata["namespace"], "name": metadata["name"]}
        volume = {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "storageClassName": spec.get("storageClassName", ""),
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **reference},
            "hostPath": {"path": "/nowhere"},
        }
        name = {"name": f"volume-{metadata['uid']}"}
        self._api.create(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": name, "spec": volume}
        )
        self._provided.add(metadata["uid"])

    def _follow(self, pod: Manifest) -> None:
        path = self._api.path_of({"apiVersion": "v1", "kind": "Pod", **pod})
        if "deletionTimestamp" in pod["metadata"]:
            self._api.ask("DELETE", path, gracePeriodSeconds="0")
        elif pod["status"]["phase"] == "Pending" and not self.is_slow.is_set():
            self._addresses += 1
            address = f"10.244.{self._addresses // 250}.{self._addresses % 250 + 1}"
            started = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
            self._api.ask("PATCH", f"{path}/status", {"status": {**started, "conditions": _READY}})
