"""Context of routing beside the incident: policy, settings, outages."""

from typing import Final

import msgspec

from alerts.notify.message import Severity
from alerts.notify.notification_state import NotificationState
from alerts.notify.recipients import Recipient, find_owner, recipient_of
from alerts.notify.settings import RoutingSettings
from alerts.notify.ticket_caps import TicketCaps
from alerts.own_parts import OUTAGE_PARTS, OWN_ROOTS
from lineage.policy.model import EscalationStep, Policy
from lineage.process.clock import SECOND_MICROS

MEMBER_UPDATE_SECONDS: Final = 300  # changes of members are sent this often at most
NOTICE_SECONDS: Final = 3600  # and what of theirs joins, to those downstream
MUTED_RECHECK_SECONDS: Final = 10  # what is muted is looked at again
NO_CHANNEL_RECHECK_SECONDS: Final = 600  # and what nobody has a channel for
CAP_SECONDS: Final = 3600  # what is over a channel's cap is looked at again
MAX_PROMPT_OWNER_PAGES: Final = 2  # to owners for one fault; a later page waits


class RoutingContext(msgspec.Struct, frozen=True):
    """Policy, settings, and outages of Lineward itself.

    Attributes:
        outages: ids of open incidents of Lineward itself behind which nobody knows how datasets
            are.
        is_alerted: an alert of Alertmanager reports such an outage.
        openings: how many new tickets each channel has had.
    """

    policy: Policy
    settings: RoutingSettings
    outages: frozenset[str] = frozenset()
    is_alerted: bool = False
    openings: TicketCaps = msgspec.field(default_factory=TicketCaps)

    def address(self, owner: str | None, severity: Severity) -> Recipient:
        """Return who is notified of what an owner owns."""
        return recipient_of(self.policy, self.settings, owner, severity)

    def is_muted(self, state: NotificationState) -> bool:
        """Return whether an outage explains the incident, as `alerts.rules.inhibition` does."""
        if state.fault in OWN_ROOTS:
            return False
        return self.is_alerted or bool(self.outages)

    def steps(self, state: NotificationState) -> tuple[tuple[int, EscalationStep], ...]:
        """Return the steps of the escalation that are left, with their positions."""
        owner = find_owner(self.policy, state.addressee)
        if owner is None:
            return ()
        every = enumerate(owner.escalation)
        return tuple(each for each in every if (owner.name, each[0]) not in state.steps)


def is_muting(state: NotificationState) -> bool:
    """Return whether the incident mutes those that follow from it."""
    return state.fault in OUTAGE_PARTS and state.is_bad


def next_due_at(state: NotificationState, context: RoutingContext) -> int | None:
    """Return when routing has to look at the incident again, µs; None: at its next change."""
    if not state.is_bad:
        return None
    if not state.is_notified:
        return state.hold_until
    found = [state.repage_at, *_notices(state), *_escalations(state, context)]
    if state.has_unsent_changes and state.last_notified_at is not None:
        found.append(state.last_notified_at + MEMBER_UPDATE_SECONDS * SECOND_MICROS)
    return min((at for at in found if at is not None), default=None)


def escalation_at(state: NotificationState, step: EscalationStep) -> int | None:
    """Return when a step is due, µs; None: not in the present state."""
    if (
        state.incident_state != "open"
        or state.draft.severity != "page"
        or state.notified_at is None
    ):
        return None
    return state.notified_at + step.after_minutes * 60 * SECOND_MICROS


def notice_at(state: NotificationState, notified_at: int | None) -> int:
    """Return when owners notified at this time may be notified again, µs."""
    since = state.notified_at or 0
    return since if notified_at is None else notified_at + NOTICE_SECONDS * SECOND_MICROS


def _notices(state: NotificationState) -> list[int]:
    return [notice_at(state, each.notified_at) for each in state.notices if each.is_due]


def _escalations(state: NotificationState, context: RoutingContext) -> list[int | None]:
    return [escalation_at(state, step) for _, step in context.steps(state)]
