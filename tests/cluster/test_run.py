"""Run a release whose pods are processes, and the chart's own test in it."""

import os

import pytest

from tests.cluster.kubelet import NODE
from tests.cluster.networks import HOSTS

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.allow_hosts(HOSTS),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make networks and mounts"),
]
_TOKENS = {"lineward-collector": "token", "lineward-reader": "token", "lineward-slack": "token"}


def test_helm_test_passes_in_the_embedded_pod(api, release, kubelet):
    """Install with tokens, wait until the pod is ready, and have an event become an SLI."""
    installed = release("embedded")
    for name, key in _TOKENS.items():
        metadata = {"name": name, "namespace": installed.namespace}
        data = {key: f"{name}-0123456789abcdef0123456789abcdef"}
        api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})

    try:
        installed.install()
        (pod,) = api.pods(installed.namespace)
        printed = installed.test()
    except AssertionError as error:
        error.add_note(kubelet.logs())
        raise

    assert pod["spec"]["nodeName"] == NODE
    assert "Succeeded" in printed
    assert "M1 coverage of lineward-helm-test/probe: good" in kubelet.logs()
