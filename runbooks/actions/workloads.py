"""Objects of Kubernetes that run Lineward's roles: found by the labels that the chart sets.

A name depends on the release; the labels `app.kubernetes.io/instance` and `…/component` do not.
"""

from typing import Any, Final

import msgspec

from lineage.process.clock import from_micros
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from runbooks.actions.kubernetes import APPLICATIONS_API, Kubernetes

INSTANCE: Final = "app.kubernetes.io/instance"
COMPONENT: Final = "app.kubernetes.io/component"
_RESTARTED: Final = "kubectl.kubernetes.io/restartedAt"  # as `kubectl rollout restart` writes it
_SPARK: Final = "SparkApplication"
_KINDS: Final = {
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    _SPARK: (APPLICATIONS_API, "sparkapplications"),
}


class Workload(msgspec.Struct, frozen=True):
    """Object that runs pods of a role."""

    kind: str
    namespace: str
    name: str
    component: str

    @property
    def path(self) -> str:
        """Path of the object on the API server."""
        return f"{_path_of(self.kind, self.namespace)}/{self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def find_workloads(kubernetes: Kubernetes, role: str) -> list[Workload]:
    """Return the objects of the release that run this role.

    Raises:
        InvalidActionError: there are none; says which roles there are.
        RejectedActionError: no release is named in the settings.
        FailedActionError: Kubernetes does not answer, or says no.
    """
    namespace, instance = _release(kubernetes, role)
    every = [
        _workload(kind, one)
        for kind in _KINDS
        for one in _list(kubernetes, kind, namespace, f"{INSTANCE}={instance}")
    ]
    if found := [one for one in every if one.component == role]:
        return found
    known = ", ".join(sorted(f"{one.component} ({one})" for one in every)) or "no objects"
    message = (
        f"release {instance} in namespace {namespace} runs no role {role!r}; there are {known}"
    )
    raise InvalidActionError(message)


def describe_restart(role: str) -> str:
    """Return the `kubectl` commands that restart a role without an action."""
    component = "collector" if role == "shipper" else role  # it runs in the collector's pods
    label = f"-l {INSTANCE}=RELEASE,{COMPONENT}={component}"
    command = f"run kubectl -n NAMESPACE rollout restart statefulset,deployment {label}"
    if role != "pipeline":
        return command
    return f"{command}; for a SparkApplication: kubectl -n NAMESPACE delete pod {label}"


def restart_workload(kubernetes: Kubernetes, workload: Workload, now: int, *, is_dry: bool) -> None:
    """Have the pods of a workload replaced, one after the other where it has several.

    A change of a SparkApplication's spec has the operator submit it again.
    """
    at = {_RESTARTED: f"{from_micros(now):%Y-%m-%dT%H:%M:%SZ}"}
    spec: dict[str, Any] = {"template": {"metadata": {"annotations": at}}}
    if workload.kind == _SPARK:
        spec = {"driver": {"annotations": at}}
    kubernetes.patch(workload.path, {"spec": spec}, is_dry=is_dry)


def _release(kubernetes: Kubernetes, role: str) -> tuple[str, str]:
    settings = kubernetes.settings
    if not settings.instance or not settings.namespace:
        names = "LINEWARD_KUBERNETES_INSTANCE and LINEWARD_KUBERNETES_NAMESPACE"
        raise RejectedActionError(
            f"the release is not known: set {names} to its name and namespace (in scaled mode"
            f" kubernetesSource.actions sets both), or {describe_restart(role)}"
        )
    return settings.namespace, settings.instance


def _list(kubernetes: Kubernetes, kind: str, namespace: str, selector: str) -> list[dict[str, Any]]:
    try:
        return kubernetes.list_objects(_path_of(kind, namespace), selector)
    except InvalidActionError:  # the operator's definitions are not installed
        if kind != _SPARK:
            raise
        return []


def _path_of(kind: str, namespace: str) -> str:
    api, plural = _KINDS[kind]
    return f"{api}/namespaces/{namespace}/{plural}"


def _workload(kind: str, found: dict[str, Any]) -> Workload:
    metadata = found["metadata"]
    component = (metadata.get("labels") or {}).get(COMPONENT, "")
    return Workload(kind, metadata["namespace"], metadata["name"], component)
