"""Action that restarts a role: through the supervisor of `lineward up`, or Kubernetes.

Every role may be killed in any way without loss, so that this is safe for each.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.workloads import (
    Workload,
    describe_restart,
    find_workloads,
    restart_workload,
)

_COSTS = {
    "collector": "for about a second nobody listens: what is sent over HTTP then is lost",
    "pipeline": "figures stand still for about 25 s, until Spark is up again",
    "service": "API and metrics are away for a few seconds; if you asked by it, no answer comes",
}
# Kubernetes replaces pods, which takes as long as a node needs to start one.
_COSTS_OF_PODS = {
    "collector": "pods are replaced one after the other: with one collector nobody listens until"
    " its new pod is ready, and what is sent over HTTP then is lost",
    "pipeline": "figures stand still until the new pod runs and Spark is up again",
    "service": "each old pod answers until its new pod is ready; then another pod leads. If you"
    " asked by the old one, no answer may come",
}


class RestartRole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Role, as `lineward status` names it."""

    role: Annotated[str, Meta(pattern=r"^[a-z]{1,30}$")]


def plan(asked: RestartRole, context: ActionContext) -> ActionPlan:
    """Return what would be restarted, and what that costs.

    Raises:
        RejectedActionError: neither `lineward up` nor a release in Kubernetes is known.
        InvalidActionError: it runs no such role.
        FailedActionError: Kubernetes does not answer, or says no.
    """
    if workloads := _workloads(asked, context):
        for one in workloads:
            restart_workload(_cluster(context, asked.role), one, context.now, is_dry=True)
        does = tuple(f"restart the {one}, which runs the role {asked.role}" for one in workloads)
        return ActionPlan(does=does, cautions=_cautions(_COSTS_OF_PODS, asked.role))
    state = context.supervised.roles()[asked.role]
    stopped = f"stop the role {asked.role}, which is {state}, and start it again"
    return ActionPlan(does=(stopped,), cautions=_cautions(_COSTS, asked.role))


def _cautions(costs: dict[str, str], role: str) -> tuple[str, ...]:
    return (costs[role],) if role in costs else ()


def perform(asked: RestartRole, context: ActionContext) -> Done:
    """Ask for it; a supervisor sees that within a second."""
    if workloads := _workloads(asked, context):
        for one in workloads:
            restart_workload(_cluster(context, asked.role), one, context.now, is_dry=False)
        return Done(did=tuple(f"restarted the {one}" for one in workloads))
    context.supervised.ask_to_restart(asked.role)
    return Done(did=(f"asked for a restart of {asked.role}: `lineward status` counts it",))


def _workloads(asked: RestartRole, context: ActionContext) -> list[Workload]:
    """Return the objects that run a role in Kubernetes; none where a supervisor here runs it."""
    roles = context.supervised.roles()
    if not roles:
        return find_workloads(_cluster(context, asked.role), asked.role)
    if asked.role not in roles:
        known = ", ".join(sorted(roles))
        raise InvalidActionError(f"`lineward up` runs no role {asked.role!r}; there are {known}")
    return []


def _cluster(context: ActionContext, role: str) -> Kubernetes:
    if context.kubernetes is None:
        message = (
            f"no `lineward up` runs on {context.data_dir} of this machine, and no Kubernetes is"
            " configured: set LINEWARD_KUBERNETES_URL, …_INSTANCE and …_NAMESPACE (in scaled mode"
            f" kubernetesSource.enabled and .actions), or {describe_restart(role)}"
        )
        raise RejectedActionError(message)
    return context.kubernetes
