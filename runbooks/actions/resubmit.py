"""Action that runs a SparkApplication once more, as a copy under a new name.

The operator runs an application once; a change of its spec would run it again under the same name,
and its status, events and driver of the failed run would be lost. A copy leaves them to be read.
"""

import hashlib
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from lineage.process.clock import from_micros
from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import RejectedActionError
from runbooks.actions.kubernetes import GROUP_VERSION, Kubernetes
from runbooks.actions.workloads import COMPONENT, INSTANCE

RERUN_OF: Final = "lineward/rerun-of"  # label: hash of namespace and name; annotation: the name
ENDED: Final = ("COMPLETED", "FAILED")
_OF_KUBECTL: Final = "kubectl.kubernetes.io/last-applied-configuration"
SCHEDULED_BY: Final = "sparkoperator.k8s.io/scheduled-app-name"
_MOST_NAME: Final = 63  # the operator names services and labels after it
_DNS: Final = r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"


class Resubmit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SparkApplication, by its namespace and name in Kubernetes."""

    namespace: Annotated[str, Meta(pattern=_DNS)]
    name: Annotated[str, Meta(pattern=_DNS)]


def plan(asked: Resubmit, context: ActionContext) -> ActionPlan:
    """Plan the copy; the API server validates it by a dry run.

    Raises:
        InvalidActionError: there is no such application.
        RejectedActionError: none is configured, or it, or a copy of it, has not ended.
        FailedActionError: Kubernetes says no, or nothing.
    """
    kubernetes = _kubernetes(context)
    found = _ended(asked, kubernetes)
    copy = copy_application(found, _mark(asked), _suffix(context))
    kubernetes.create(asked.namespace, copy, is_dry=True)
    cautions = ["whatever it writes is written again: see that the job bears that"]
    if (found.get("spec") or {}) != copy["spec"]:
        cautions.append("driver.podName is left to the operator: the first driver still has it")
    name = copy["metadata"]["name"]
    does = f"create the SparkApplication {asked.namespace}/{name}, a copy of {asked.name}"
    return ActionPlan(does=(does,), figures={"applications": 1}, cautions=tuple(cautions))


def perform(asked: Resubmit, context: ActionContext) -> Done:
    """Create it.

    Raises:
        as `plan`.
    """
    kubernetes = _kubernetes(context)
    copy = copy_application(_ended(asked, kubernetes), _mark(asked), _suffix(context))
    made = kubernetes.create(asked.namespace, copy, is_dry=False)
    name = made.get("metadata", {}).get("name", copy["metadata"]["name"])
    did = f"created SparkApplication {asked.namespace}/{name}: kubectl get sparkapplication {name}"
    return Done(did=(f"{did} -n {asked.namespace}",), figures={"applications": 1})


def _kubernetes(context: ActionContext) -> Kubernetes:
    if context.kubernetes is None:
        message = (
            "no Kubernetes is configured: set LINEWARD_KUBERNETES_URL, …_TOKEN_FILE, …_CA_FILE"
        )
        raise RejectedActionError(message)
    return context.kubernetes


def _ended(asked: Resubmit, kubernetes: Kubernetes) -> dict[str, Any]:
    """Return the application, once neither it nor a copy of it runs."""
    found = kubernetes.application(asked.namespace, asked.name)
    _require_foreign(found, kubernetes)
    _require_ended(found, asked.name)
    for other in kubernetes.applications(asked.namespace, f"{RERUN_OF}={_mark(asked)}"):
        _require_ended(other, str(_metadata(other).get("name")))
    return found


def _suffix(context: ActionContext) -> str:
    return f"{from_micros(context.now):%Y%m%d%H%M%S}"


def copy_application(found: dict[str, Any], mark: str, suffix: str) -> dict[str, Any]:
    """Return a new application with the same spec.

    Without what is of the old one alone: status, ids, owner, and the name of its driver's pod. A
    schedule would count a copy that it owns, and delete it.
    """
    metadata, spec = _metadata(found), dict(found.get("spec") or {})
    if "podName" in (spec.get("driver") or {}):
        spec["driver"] = {name: v for name, v in spec["driver"].items() if name != "podName"}
    name = str(metadata.get("name"))
    labels = {n: v for n, v in (metadata.get("labels") or {}).items() if n != SCHEDULED_BY}
    notes = {n: v for n, v in (metadata.get("annotations") or {}).items() if n != _OF_KUBECTL}
    base = name[: _MOST_NAME - len(suffix) - len("-rerun-")].rstrip("-.")
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "SparkApplication",
        "metadata": {
            "name": f"{base}-rerun-{suffix}",
            "namespace": metadata.get("namespace"),
            "labels": {**labels, RERUN_OF: mark},
            "annotations": {**notes, RERUN_OF: name},
        },
        "spec": spec,
    }


def _require_foreign(application: dict[str, Any], kubernetes: Kubernetes) -> None:
    """Reject Lineward's own pipeline: a copy would be a second one on the same catalog."""
    labels = _metadata(application).get("labels") or {}
    instance = kubernetes.settings.instance
    if instance is not None and labels.get(INSTANCE) == instance and COMPONENT in labels:
        role = labels[COMPONENT]
        message = f"it runs Lineward's own role {role}: `lineward act restart-role {role}`"
        raise RejectedActionError(message)


def _require_ended(application: dict[str, Any], name: str) -> None:
    status = application.get("status") or {}
    state = str((status.get("applicationState") or {}).get("state") or "NEW")
    if state not in ENDED:
        ended = " or ".join(ENDED)
        message = f"{name} is {state[:40]}, and not {ended}: two runs would write the same"
        raise RejectedActionError(message)


def _mark(asked: Resubmit) -> str:
    return hashlib.sha256(f"{asked.namespace}/{asked.name}".encode()).hexdigest()[:16]


def _metadata(application: dict[str, Any]) -> dict[str, Any]:
    return application.get("metadata") or {}
