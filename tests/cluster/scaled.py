"""Scaled mode whose pods are processes: collectors, services, the watch, the pipeline, executors.

The values are those of a file of `ci/`, but for addresses and sizes. Two things stand in for a
cluster's own: the test submits the SparkApplication as the operator does, and hosts files have the
names of Services.
"""

from collections.abc import Callable
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
from tests.cluster.scaled_objects import (
    AUTHORITY,
    POLICY,
    READER,
    SENDER,
    deployment_values,
    secrets,
    values,
)
from tests.cluster.submission import DRIVER, operator_settings, submit
from tests.helm.charts import Manifest
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until


class Layout(NamedTuple):
    """Values file, and what it leads to.

    Attributes:
        file: name of the values file.
        name: of the release's objects.
        pods: number of pods by component.
        values: returns what differs from the file.
    """

    file: str
    name: str
    pods: dict[str, int]
    values: Callable[[Engines], Manifest]

    @property
    def is_submitted(self) -> bool:
        """Return whether the pipeline is a SparkApplication."""
        return "executor" in self.pods


_BOTH = {"collector": 2, "service": 2, "pipeline": 1}
SPARK = Layout("scaled", "lineward", _BOTH | {"kubernetes": 1, "executor": 2}, values)
DEPLOYMENT = Layout("scaled-deployment", "lineage", _BOTH, deployment_values)


class Scaled(NamedTuple):
    """Installation of the chart.

    Attributes:
        layout: of the installation.
        api: of Kubernetes.
        plane: of Kubernetes.
        release: of the chart.
        kubelet: runs its pods.
        engines: that it uses.
        folder: for files of values, and of spark-submit.
    """

    layout: Layout
    api: Api
    plane: ControlPlane
    release: Release
    kubelet: Kubelet
    engines: Engines
    folder: Path

    def install(self) -> None:
        """Install the chart, submit the pipeline, and wait until all pods are ready."""
        self._create_objects()
        self._values.write_text(yaml.safe_dump(self.layout.values(self.engines)))
        # Services wait for the catalog's schema, which the pipeline brings: Helm cannot wait here.
        answer = self.release.try_install("-f", str(self._values))
        assert answer.returncode == 0, answer.stderr
        if self.layout.is_submitted:
            self.submit_pipeline()
        self.await_pods()

    def upgrade(self, setting: str) -> None:
        """Change a value for all pods, and wait until others are ready in their places."""
        before = self._uids()
        answer = self.release.try_upgrade("-f", str(self._values), "--set", setting)
        assert answer.returncode == 0, answer.stderr
        until(lambda: not before & self._uids(), describe=self.describe)
        self.await_pods()

    def await_pods(self) -> None:
        """Wait until all pods are ready."""
        until(lambda: self.count_ready() == self.layout.pods, describe=self.describe)

    def submit_pipeline(self) -> None:
        """Do the operator's work: submit the SparkApplication that the chart created."""
        group = "/apis/sparkoperator.k8s.io/v1beta2"
        path = f"{group}/namespaces/{self.release.namespace}/sparkapplications/lineward-pipeline"
        application = self.api.get(path)
        given = operator_settings(application, self.plane, self.release.namespace, self.folder)
        done = submit(given, application["spec"]["mainApplicationFile"])
        assert done.returncode == 0, done.stderr

    def uninstall(self) -> None:
        """Remove the release and, as the operator does, the driver; wait until no pod runs."""
        self.release.uninstall()
        if self.layout.is_submitted:
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
        url = f"http://{self.address('-collector')}:8700{path}"
        return CLIENT.post(url, content=body, headers=headers).status_code

    def ask(self, path: str, **params: str) -> Any:  # noqa: ANN401 - as the API answers
        """Return the answer of the API's Service; None where it has none yet."""
        headers = {"Authorization": f"Bearer {READER}"}
        url = f"http://{self.address()}:8701{path}"
        try:
            answer = CLIENT.get(url, headers=headers, params=params)
        except httpx.TransportError:  # of a pod that is gone, until kube-proxy knows
            return None
        return answer.json() if answer.is_success else None

    def address(self, suffix: str = "") -> str:
        """Return the virtual address of the Service with this end of its name."""
        services = f"/api/v1/namespaces/{self.release.namespace}/services"
        path = f"{services}/{self.layout.name}{suffix}"
        return str(self.api.get(path)["spec"]["clusterIP"])

    def kill(self, pod: Pod) -> None:
        """Kill the processes of a pod and delete it at once, as if its node were gone."""
        self.api.ask("DELETE", f"{self._pods_path}/{pod.name}", gracePeriodSeconds="0")

    def restarts(self) -> dict[str, int]:
        """Return how often containers of running pods were started again, where they were."""
        found = {pod.name: pod.restarts() for part in self.layout.pods for pod in self.pods(part)}
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

    @property
    def _values(self) -> Path:
        return self.folder / "values.yaml"

    def _uids(self) -> set[str]:
        return {one["metadata"]["uid"] for one in self.api.pods(self.release.namespace)}

    def _create_objects(self) -> None:
        for name, data in secrets(self.engines).items():
            self._create("Secret", name, stringData=data)
        authority = self.engines.pagerduty.write_authority(self.folder / "authority.pem")
        self._create("ConfigMap", AUTHORITY, data={"ca.pem": authority.read_text()})
        if "policy" not in self.layout.values(self.engines):  # the file names a ConfigMap
            self._create("ConfigMap", "lineward-policy", data={"lineward.yaml": POLICY})

    def _create(self, kind: str, name: str, **fields: object) -> None:
        metadata = {"name": name, "namespace": self.release.namespace}
        self.api.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields})


def _is_ready(pod: Manifest) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
