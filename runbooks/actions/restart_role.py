"""Has a role of `lineward up` stopped and started again: the supervisor does it, as it always does.

Every role may be killed in any way without loss, so that this is safe for each.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from runbooks.actions.action import Done, Plan
from runbooks.actions.errors import InvalidActionError, RefusedActionError
from runbooks.actions.means import Means

_COSTS = {
    "collector": "for about a second nobody listens: what is sent over HTTP then is lost",
    "pipeline": "figures stand still for about 25 s, until Spark is up again",
    "service": "API and metrics are away for a few seconds; if you asked by it, no answer comes",
}


class RestartRole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which, as `lineward status` names it."""

    role: Annotated[str, Meta(pattern=r"^[a-z]{1,30}$")]


def plan(asked: RestartRole, means: Means) -> Plan:
    """What it is doing now, and what that costs.

    Raises:
        RefusedActionError: no `lineward up` runs here; says what to run in Kubernetes.
        InvalidActionError: it runs no such role.
    """
    roles = means.supervised.roles()
    if not roles:
        message = (
            f"no `lineward up` runs on {means.data_dir} of this machine. In Kubernetes:"
            f" kubectl rollout restart deployment/lineward-{asked.role}"
        )
        raise RefusedActionError(message)
    if asked.role not in roles:
        known = ", ".join(sorted(roles))
        raise InvalidActionError(f"`lineward up` runs no role {asked.role!r}; there are {known}")
    does = f"stop the role {asked.role}, which is {roles[asked.role]}, and start it again"
    cost = _COSTS.get(asked.role)
    return Plan(does=(does,), cautions=(cost,) if cost else ())


def perform(asked: RestartRole, means: Means) -> Done:
    """Ask for it; the supervisor sees that within a second."""
    plan(asked, means)
    means.supervised.ask_to_restart(asked.role)
    return Done(did=(f"asked for a restart of {asked.role}: `lineward status` counts it",))
