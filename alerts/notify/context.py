"""What a decision goes by beside the incident itself."""

from typing import Final

import msgspec

from alerts.notify.message import Severity
from alerts.notify.notification_state import MICROS, Telling
from alerts.notify.recipients import Address, address_of, owner_named
from alerts.notify.routing_settings import RoutingSettings
from alerts.notify.ticket_caps import Openings
from alerts.rules.incidents import OUTAGE_ROOTS
from alerts.rules.inhibition import UNMUTED_ROOTS
from lineage.policy.model import EscalationStep, Policy

JOINED_SECONDS: Final = 300  # members that come and go are told this often at most
NOTICE_SECONDS: Final = 3600  # and what of theirs joins, to those downstream
AGAIN_SECONDS: Final = 10  # what is muted, or has no way, is looked at again
HELD_SECONDS: Final = 3600  # what is over a channel's cap is looked at again
RINGS: Final = 2  # of owners, by one fault


class Scene(msgspec.Struct, frozen=True):
    """The policy, the settings, and whether lineage comes in.

    Attributes:
        outages: ids of open incidents of Lineward itself behind which nobody knows how datasets
            are.
        is_alerted: Alertmanager has told of such an outage, just now.
        openings: how many new tickets each channel has had.
    """

    policy: Policy
    settings: RoutingSettings
    outages: frozenset[str] = frozenset()
    is_alerted: bool = False
    openings: Openings = msgspec.field(default_factory=Openings)

    def address(self, owner: str | None, severity: Severity) -> Address:
        """Who is told of what this one owns."""
        return address_of(self.policy, self.settings, owner, severity)

    def is_muted(self, telling: Telling) -> bool:
        """Whether it follows from an outage: as `alerts.rules.inhibition` has it."""
        if telling.fault in UNMUTED_ROOTS:
            return False
        return self.is_alerted or bool(self.outages)

    def steps(self, telling: Telling) -> tuple[tuple[int, EscalationStep], ...]:
        """What is left of the escalation of whoever was told, with its position."""
        owner = owner_named(self.policy, telling.addressee)
        if owner is None:
            return ()
        every = enumerate(owner.escalation)
        return tuple(each for each in every if (owner.name, each[0]) not in telling.steps)


def is_outage(telling: Telling) -> bool:
    """It mutes what follows from it."""
    return telling.fault in OUTAGE_ROOTS and telling.is_bad


def next_at(telling: Telling, scene: Scene) -> int | None:
    """When time brings something, µs; None: only a change does."""
    if not telling.is_bad:
        return None
    if not telling.is_told:
        return telling.waits_until
    found = [telling.ring_at, *_notices(telling), *_escalations(telling, scene)]
    if telling.is_stale and telling.said_at is not None:
        found.append(telling.said_at + JOINED_SECONDS * MICROS)
    return min((at for at in found if at is not None), default=None)


def escalation_at(telling: Telling, step: EscalationStep) -> int | None:
    """When this step is due, µs; None: not as things are."""
    if telling.state != "open" or telling.draft.severity != "page" or telling.told_at is None:
        return None
    return telling.told_at + step.after_minutes * 60 * MICROS


def notice_at(telling: Telling, told_at: int | None) -> int:
    """When those who were told then may be told again, µs."""
    since = telling.told_at or 0
    return since if told_at is None else told_at + NOTICE_SECONDS * MICROS


def _notices(telling: Telling) -> list[int]:
    return [notice_at(telling, each.told_at) for each in telling.notices if each.is_due]


def _escalations(telling: Telling, scene: Scene) -> list[int | None]:
    return [escalation_at(telling, step) for _, step in scene.steps(telling)]
