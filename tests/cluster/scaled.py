"""Scaled mode whose pods are processes: collectors, services, the watch, Spark's driver, executors.

The values are those of `ci/scaled-values.yaml`, but for addresses and sizes. Two things stand in
for a cluster's own: the test submits the SparkApplication as the operator does, and hosts files
have the names of Services.
"""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import yaml
from sqlalchemy import Engine, make_url

from lineage.catalog.engine import open_catalog
from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.engines import PASSWORD, Engines
from tests.cluster.kubelet import Kubelet
from tests.cluster.pods import Pod
from tests.cluster.releases import Release
from tests.cluster.scaled_objects import AUTHORITY, READER, SENDER, secrets, values
from tests.cluster.submission import DRIVER, operator_settings, submit
from tests.helm.charts import Manifest
from tests.service.waiting import until
from tests.suite.http_client import CLIENT

_PODS = {"collector": 2, "service": 2, "kubernetes": 1, "pipeline": 1, "executor": 2}


class Scaled(NamedTuple):
    """Installation of the chart.

    Attributes:
        api: of Kubernetes.
        plane: of Kubernetes.
        release: of the chart.
        kubelet: runs its pods.
        engines: that it uses.
    """

    api: Api
    plane: ControlPlane
    release: Release
    kubelet: Kubelet
    engines: Engines

    def install(self, folder: Path) -> None:
        """Install the chart, submit the pipeline, and wait until all pods are ready."""
        self._create_objects(folder)
        file = folder / "values.yaml"
        file.write_text(yaml.safe_dump(values(self.engines)))
        # Services wait for the catalog's schema, which the pipeline brings: Helm cannot wait here.
        answer = self.release.try_install("-f", str(file))
        assert answer.returncode == 0, answer.stderr
        self.submit_pipeline(folder)
        until(lambda: self.count_ready() == _PODS, describe=self.describe)

    def submit_pipeline(self, folder: Path) -> None:
        """Do the operator's work: submit the SparkApplication that the chart created."""
        group = "/apis/sparkoperator.k8s.io/v1beta2"
        path = f"{group}/namespaces/{self.release.namespace}/sparkapplications/lineward-pipeline"
        application = self.api.get(path)
        given = operator_settings(application, self.plane, self.release.namespace, folder)
        done = submit(given, application["spec"]["mainApplicationFile"])
        assert done.returncode == 0, done.stderr

    def uninstall(self) -> None:
        """Remove the release and, as the operator does, the driver; wait until no pod runs."""
        self.release.uninstall()
        self.api.ask("DELETE", f"{self._pods_path}/{DRIVER}")
        pods = partial(self.api.get, self._pods_path, fieldSelector="status.phase=Running")
        until(lambda: not pods()["items"], describe=self.describe)

    def pods(self, component: str) -> list[Pod]:
        """Return the pods of a component that were started, by name."""
        found = self.api.pods(self.release.namespace, component=component)
        uids = [one["metadata"]["uid"] for one in found]
        return [self.kubelet.pods[uid] for uid in uids if uid in self.kubelet.pods]

    def count_ready(self) -> dict[str, int]:
        """Return how many pods of each component are ready."""
        found: dict[str, int] = {}
        for pod in self.api.pods(self.release.namespace):
            if _is_ready(pod):
                name = pod["metadata"]["labels"]["app.kubernetes.io/component"]
                found[name] = found.get(name, 0) + 1
        return found

    def post(self, body: bytes, path: str = "/api/v1/lineage") -> int:
        """Post events to the Service of the collectors; return the status of the answer."""
        headers = {"Authorization": f"Bearer {SENDER}"}
        headers["Content-Type"] = "application/json"
        url = f"http://{self.address('lineward-collector')}:8700{path}"
        return CLIENT.post(url, content=body, headers=headers).status_code

    def ask(self, path: str, **params: str) -> Any:  # noqa: ANN401 - as the API answers
        """Return the answer of the API's Service; None where it has none yet."""
        headers = {"Authorization": f"Bearer {READER}"}
        url = f"http://{self.address('lineward')}:8701{path}"
        try:
            answer = CLIENT.get(url, headers=headers, params=params)
        except httpx.TransportError:  # of a pod that is gone, until kube-proxy knows
            return None
        return answer.json() if answer.is_success else None

    def address(self, service: str) -> str:
        """Return the virtual address of a Service."""
        path = f"/api/v1/namespaces/{self.release.namespace}/services/{service}"
        return str(self.api.get(path)["spec"]["clusterIP"])

    def kill(self, pod: Pod) -> None:
        """Kill the processes of a pod and delete it at once, as if its node were gone."""
        self.api.ask("DELETE", f"{self._pods_path}/{pod.name}", gracePeriodSeconds="0")

    def restarts(self) -> dict[str, int]:
        """Return how often containers of running pods were started again, where they were."""
        found = {pod.name: pod.restarts() for part in _PODS for pod in self.pods(part)}
        return {name: count for name, count in found.items() if count}

    def open_catalog(self) -> Engine:
        """Return an engine on the catalog."""
        url = make_url(self.engines.catalog_url).set(password=PASSWORD)
        return open_catalog(url.render_as_string(hide_password=False))

    def describe(self) -> str:
        """Return what is ready, and what all pods have written."""
        return f"{self.count_ready()}\n{self.kubelet.logs()}"

    @property
    def _pods_path(self) -> str:
        return f"/api/v1/namespaces/{self.release.namespace}/pods"

    def _create_objects(self, folder: Path) -> None:
        for name, data in secrets(self.engines).items():
            self._create("Secret", name, stringData=data)
        authority = self.engines.pagerduty.write_authority(folder / "authority.pem")
        self._create("ConfigMap", AUTHORITY, data={"ca.pem": authority.read_text()})

    def _create(self, kind: str, name: str, **fields: object) -> None:
        metadata = {"name": name, "namespace": self.release.namespace}
        self.api.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields})


def _is_ready(pod: Manifest) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
