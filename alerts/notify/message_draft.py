"""An incident as it would be told now: drafted at each change, told when it is time."""

import msgspec

from alerts.incidents.incident import Incident
from alerts.incidents.kinds import STANDING_GAP
from alerts.notify.incident_summary import Picture
from alerts.notify.labels import root_kind
from alerts.notify.links import links_of
from alerts.notify.message import MAX_LISTED, Message, Root
from alerts.notify.notification_state import Telling
from alerts.notify.routing_settings import RoutingSettings


def redrafted(
    before: Telling | None, incident: Incident, picture: Picture | None, settings: RoutingSettings
) -> Telling:
    """What is known of it now, beside what was said so far.

    Args:
        before: None: it is heard of for the first time.
        incident: after the step.
        picture: None: what is told of it stays as it was, or is told by its root alone.
        settings: for links, and who owns Lineward itself.
    """
    draft = _draft(before, incident, picture, settings)
    own = before or Telling(
        incident_id=incident.id, draft=draft, state=incident.state, fault=incident.root.kind
    )
    is_service = incident.root.entity == "service"
    return msgspec.structs.replace(
        own,
        draft=draft,
        state=incident.state,
        fault=root_kind(incident.root),
        is_standing=incident.root.kind == STANDING_GAP,
        is_early=not incident.members,
        waits_for_digest=own.waits_for_digest if picture is None else picture.waits_for_digest,
        owner=settings.platform if is_service and incident.owner is None else incident.owner,
        ended_at=own.ended_at if incident.state == "resolved" else None,
        **_hidden(own, incident, picture),
    )


def _hidden(
    own: Telling, incident: Incident, picture: Picture | None
) -> dict[str, str | int | bool | None]:
    if incident.state != "suppressed" or picture is None or picture.hidden_by is None:
        return {}
    since = own.hidden_at if own.hidden_by == picture.hidden_by else None
    return {
        "hidden_by": picture.hidden_by,
        "hidden_at": since or incident.seen_at,
        "hidden_until": incident.suppressed_until,
        "is_hidden_told": False,
    }


def _draft(
    before: Telling | None, incident: Incident, picture: Picture | None, settings: RoutingSettings
) -> Message:
    own = _unpainted(before, incident) if picture is None else _painted(picture, settings)
    return msgspec.structs.replace(
        own,
        revision=max(1, incident.revision),
        severity=incident.severity.level,
        since=incident.onset,
        times=tuple(incident.timeline),
        is_flapping=incident.is_flapping,
    )


def _painted(picture: Picture, settings: RoutingSettings) -> Message:
    return Message(
        incident_id=picture.incident.id,
        revision=1,
        kind="changed",
        severity="ticket",
        what=picture.what,
        since=0,
        at=0,
        root=picture.root,
        owner="",
        impacted=picture.impacted[:MAX_LISTED],
        impacted_count=picture.impacted_count,
        tiers=picture.tiers,
        error=picture.error,
        first_difference=picture.first_difference,
        links=links_of(picture, settings),
        correlation_id=picture.correlation_id,
        is_bridged=picture.is_bridged,
    )


def _unpainted(before: Telling | None, incident: Incident) -> Message:
    """Told poorly rather than not at all."""
    if before is not None:
        return before.draft
    root = incident.root
    return Message(
        incident_id=incident.id,
        revision=1,
        kind="changed",
        severity="ticket",
        what=f"A fault of the kind {root.kind}",
        since=0,
        at=0,
        root=Root(root.entity, root.name or f"{root.key}", ""),
        owner="",
    )
