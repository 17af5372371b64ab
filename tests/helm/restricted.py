"""Checks a pod against Kubernetes' Pod Security Standard `restricted` and our own rules."""

from collections.abc import Iterator
from typing import Any

_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"} | {
    "persistentVolumeClaim",
    "projected",
    "secret",
}
_SECCOMP = {"RuntimeDefault", "Localhost"}
_HOST = ("hostNetwork", "hostPID", "hostIPC")

Spec = dict[str, Any]

# Spark's driver asks the API server for executors, and Spark itself sets requests and limits.
OF_SPARK = {
    "SparkDriver": [
        "the token of the ServiceAccount is mounted",
        "spark-kubernetes-driver: no requests",
    ],
    "SparkExecutor": ["spark-kubernetes-executor: no requests"],
}


def find_violations(pod: Spec) -> list[str]:
    """Return one sentence for each rule that the pod's spec breaks."""
    found = [*_check_pod(pod)]
    for container in _containers(pod):
        found += [f"{container['name']}: {text}" for text in _check_container(container, pod)]
    return found


def _check_pod(pod: Spec) -> Iterator[str]:
    yield from (f"{name} is true" for name in _HOST if pod.get(name))
    for volume in pod.get("volumes", []):
        kind = next(iter(set(volume) - {"name"}))
        if kind not in _VOLUMES:
            yield f"volume {volume['name']} is a {kind}"
    if pod.get("automountServiceAccountToken") is not False:
        yield "the token of the ServiceAccount is mounted"
    if pod.get("enableServiceLinks") is not False:
        yield "enableServiceLinks is on"
    names = {volume["name"] for volume in pod.get("volumes", [])}
    if unused := names - {one["name"] for c in _containers(pod) for one in _mounts(c)}:
        yield f"volumes that no container mounts: {sorted(unused)}"


def _check_container(container: Spec, pod: Spec) -> Iterator[str]:
    own = container.get("securityContext", {})
    both = {**pod.get("securityContext", {}), **own}
    yield from _check_privileges(own)
    if both.get("runAsNonRoot") is not True:
        yield "runAsNonRoot is not true"
    if both.get("runAsUser") == 0:
        yield "runAsUser is 0"
    if both.get("seccompProfile", {}).get("type") not in _SECCOMP:
        yield "no seccompProfile"
    if own.get("readOnlyRootFilesystem") is not True:
        yield "the root file system is writable"
    if any(port.get("hostPort") for port in container.get("ports", [])):
        yield "hostPort is set"
    if not container.get("resources", {}).get("requests"):
        yield "no requests"


def _check_privileges(own: Spec) -> Iterator[str]:
    if own.get("privileged"):
        yield "privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation is not false"
    capabilities = own.get("capabilities", {})
    if capabilities.get("drop") != ["ALL"]:
        yield "capabilities are not dropped"
    if set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield "capabilities are added"


def _containers(pod: Spec) -> list[Spec]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def _mounts(container: Spec) -> list[Spec]:
    found: list[Spec] = container.get("volumeMounts", [])
    return found
