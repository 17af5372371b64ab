"""Alerts on any role: that it fails, and by which policy it goes."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.burn_windows import PAGE, TICKET
from alerts.rules.matchers import equal, none_of, one_of
from alerts.rules.model import Alert, since
from alerts.rules.promql import bridge
from alerts.rules.roots import OUTSIDE, of_root

ROLE_FAILING: Final = "LineageRoleFailing"
SERVICE: Final = "service"  # may be unable to tell of itself
INGESTING: Final = ("collector", "pipeline")


def roles(owner: str) -> Iterator[Alert]:
    """Alerts on the roles of `lineward up` and on their policy."""
    yield _failing(owner, equal("role", SERVICE), PAGE, {**of_root("role"), **OUTSIDE})
    yield _failing(owner, one_of("role", INGESTING), PAGE, of_root("role"))
    yield _failing(owner, none_of("role", (SERVICE, *INGESTING)), TICKET, of_root("role"))
    yield _policy_rejected(owner)
    yield _policy_not_in_force(owner)


def _failing(owner: str, roles: str, severity: str, about: dict[str, str]) -> Alert:
    return Alert(
        name=ROLE_FAILING,
        # Each `lineward up` has roles of its own: the lowest is taken.
        expr=f"min by (role) (lineage_role_working{{{roles}}}) == 0",
        hold="5m",
        severity=severity,
        owner=owner,
        about=about,
        summary="The role {{ $labels.role }} of Lineward fails",
        description=(
            "The role {{ $labels.role }} has failed for 5m, since"
            f" {since(ROLE_FAILING)}: it does not run, or it reports a failure. `lineward status`"
            " shows the error, the number of attempts and the log file."
        ),
    )


def _policy_rejected(owner: str) -> Alert:
    return Alert(
        name="PolicyRejected",
        expr=f"max by (role) ({bridge('lineage_policy_rejected')}) == 1",
        hold="2m",
        severity=TICKET,
        owner=owner,
        about=of_root("policy"),
        summary="The {{ $labels.role }} rejects the policy file",
        description=(
            "The {{ $labels.role }} has rejected the policy file for 2m, since"
            f" {since('PolicyRejected')}. An older policy stays in force"
            " until the file is valid; after a restart there would be none. `lineward status` shows"
            " the error."
        ),
    )


def _policy_not_in_force(owner: str) -> Alert:
    return Alert(
        name="PolicyNotInForce",
        # Of several services, the one without a policy answers nobody.
        expr=f"min by (role) ({bridge('lineage_policy_in_force')}) == 0",
        hold="2m",
        severity=PAGE,
        owner=owner,
        about=of_root("policy"),
        summary="The {{ $labels.role }} has no valid policy",
        description=(
            "The {{ $labels.role }} started with an invalid policy file and has had no policy for"
            f" 2m, since {since('PolicyNotInForce')}. Until the file is"
            " valid, the API answers nobody. Incidents and notifications go by the last valid"
            " policy; without one, to the fallback channel."
        ),
    )
