"""Kubernetes cluster for the tests of the chart: real servers, nodes without containers."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster.api import Api, RejectedError
from tests.cluster.control_plane import ControlPlane, is_built
from tests.cluster.definitions import KINDS, define
from tests.cluster.engines import running_engines
from tests.cluster.kubelet import NODE, Kubelet
from tests.cluster.networks import Network
from tests.cluster.nodes import NAMES, Nodes
from tests.cluster.releases import RESTRICTED, Release
from tests.cluster.scaled import DEPLOYMENT, SPARK, Layout, Scaled
from tests.cluster.service_proxy import ServiceProxy
from tests.helm.charts import NAMESPACE
from tests.suite.waiting import until

_IN_VALUES = ("jobs", "etl", "grafana")  # namespaces that the values files of `ci/` name
_numbers = itertools.count(1)


class Cluster(NamedTuple):
    """Parts of the cluster of all tests."""

    control_plane: ControlPlane
    api: Api
    nodes: Nodes


@pytest.fixture(scope="session")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """Run a cluster, with what the values files expect in it."""
    if not is_built():
        pytest.skip("needs a built Kubernetes: scripts/build_cluster.sh")
    plane = ControlPlane(tmp_path_factory.mktemp("cluster"))
    try:
        plane.start()
        api = Api(plane.url, plane.ca, plane.token)
        _prepare(api)
        nodes = Nodes(api)
        nodes.start()
        yield Cluster(plane, api, nodes)
        nodes.stop()
        api.close()
    finally:
        plane.stop()


@pytest.fixture
def control_plane(cluster) -> ControlPlane:
    """Return the processes of the cluster."""
    return cluster.control_plane


@pytest.fixture(scope="session")
def api(cluster) -> Api:
    """Return the API server as the administrator sees it."""
    return cluster.api


@pytest.fixture
def nodes(cluster) -> Nodes:
    """Return the nodes."""
    return cluster.nodes


@pytest.fixture
def release(cluster) -> Iterator[Callable[[str], Release]]:
    """Return a function that makes a release of a values file in a namespace of its own."""
    made: list[Release] = []

    def make(values: str) -> Release:
        made.append(_new_release(cluster, values))
        return made[-1]

    yield make
    for one in made:
        one.remove()


@pytest.fixture(scope="module")
def scaled(cluster, kubelet, tmp_path_factory) -> Iterator[Scaled]:
    """Install scaled mode beside the operator, and wait until all its pods run."""
    with _running(SPARK, cluster, kubelet, tmp_path_factory.mktemp("scaled")) as running:
        yield running


@pytest.fixture(scope="module")
def deployed(cluster, kubelet, tmp_path_factory) -> Iterator[Scaled]:
    """Install scaled mode with a Deployment as its pipeline, and wait until all its pods run."""
    with _running(DEPLOYMENT, cluster, kubelet, tmp_path_factory.mktemp("deployed")) as running:
        yield running


@contextmanager
def _running(layout: Layout, cluster: Cluster, kubelet: Kubelet, folder: Path) -> Iterator[Scaled]:
    with running_engines(folder) as engines:
        made = _new_release(cluster, layout.file)
        plane = cluster.control_plane
        running = Scaled(layout, cluster.api, plane, made, kubelet, engines, folder)
        running.install()
        yield running
        running.uninstall()


@pytest.fixture(scope="module")
def acting_release(cluster) -> Iterator[Release]:
    """Install one release for the tests of a file: scaled mode, which may act on workloads."""
    made = _new_release(cluster, "scaled")
    made.install("--set", "kubernetesSource.actions=true")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def kubelet(cluster, tmp_path_factory) -> Iterator[Kubelet]:
    """Run a node of processes with a kube-proxy, on which all pods of a file are scheduled."""
    folder, network, plane = tmp_path_factory.mktemp("node"), Network(), cluster.control_plane
    running = Kubelet(cluster.api, folder / "pods", network)
    with ExitStack() as stack:
        stack.callback(network.close)
        network.open()
        running.start()
        stack.callback(running.stop)
        proxy = ServiceProxy(plane.node_kubeconfig, NODE, network, folder)
        stack.callback(proxy.stop)
        for name in NAMES:
            cluster.nodes.cordon(name)
            stack.callback(cluster.nodes.uncordon, name)
        yield running


def _new_release(cluster: Cluster, values: str) -> Release:
    namespace = f"release-{next(_numbers)}"
    _create_namespace(cluster.api, namespace)
    return Release(cluster.control_plane.kubeconfig, namespace, values)


def _prepare(api: Api) -> None:
    for kind in KINDS:
        api.create(define(kind))
    for name in (NAMESPACE, *_IN_VALUES):
        _create_namespace(api, name)
    _create_classes(api)
    until(lambda: _knows_kinds(api))


def _knows_kinds(api: Api) -> bool:
    try:
        api.names(NAMESPACE)
        return set(KINDS) <= api.known_kinds()
    except RejectedError:  # a group is listed before it is served, and served before it is stored
        return False


def _create_namespace(api: Api, name: str) -> None:
    """Create a namespace that enforces `restricted`, and wait until pods can have its account."""
    metadata = {"name": name, "labels": RESTRICTED}
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
    until(lambda: api.get(accounts)["items"])


def _create_classes(api: Api) -> None:
    """Create the classes of storage and priority that the values files name."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    for name, notes in (("fast", {}), ("standard", default)):
        metadata = {"name": name, "annotations": notes}
        api.create({**storage, "metadata": metadata, "provisioner": "lineward.test/nodes"})
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
    api.create({**priority, "metadata": {"name": "production"}})
