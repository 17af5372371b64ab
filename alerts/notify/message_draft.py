"""Draft of an incident's next message, written at each change and sent when it is due."""

import msgspec

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.incidents.incident import Incident
from alerts.notify import sentences
from alerts.notify.incident_summary import IncidentSummary
from alerts.notify.links import links_of
from alerts.notify.message import Message, MessageRoot
from alerts.notify.notification_state import NotificationState
from alerts.notify.settings import RoutingSettings
from alerts.root_cause.faults import label_of_root
from alerts.root_cause.kinds import STANDING_GAP


def refresh_message(
    before: NotificationState | None,
    incident: Incident,
    summary: IncidentSummary | None,
    settings: RoutingSettings,
    time_zone: str,
) -> NotificationState:
    """Return the state with the draft of the incident's present state.

    Args:
        before: None: the incident is new.
        incident: after the step.
        summary: None: the draft keeps what it has, or has the root alone.
        settings: for links, and who owns Lineward itself.
        time_zone: of the policy.
    """
    draft = _build_message(before, incident, summary, settings)
    draft = msgspec.structs.replace(draft, time_zone=time_zone)
    own = before or NotificationState(
        incident_id=incident.id,
        draft=draft,
        incident_state=incident.state,
        fault=incident.root.kind,
    )
    is_service = incident.root.entity == "service"
    return msgspec.structs.replace(
        own,
        draft=draft,
        incident_state=incident.state,
        fault=label_of_root(incident.root),
        is_standing=incident.root.kind == STANDING_GAP,
        is_early=not incident.members,
        is_digest_only=own.is_digest_only if summary is None else summary.is_digest_only,
        owner=settings.platform if is_service and incident.owner is None else incident.owner,
        ended_at=own.ended_at if incident.state == "resolved" else None,
        **_suppression_fields(own, incident, summary),
    )


def _suppression_fields(
    own: NotificationState, incident: Incident, summary: IncidentSummary | None
) -> dict[str, str | int | bool | None]:
    if incident.state != "suppressed" or summary is None or summary.hidden_by is None:
        return {}
    since = own.hidden_at if own.hidden_by == summary.hidden_by else None
    return {
        "hidden_by": summary.hidden_by,
        "hidden_at": since or incident.seen_at,
        "hidden_until": incident.suppressed_until,
        "is_summary_sent": False,
    }


def _build_message(
    before: NotificationState | None,
    incident: Incident,
    summary: IncidentSummary | None,
    settings: RoutingSettings,
) -> Message:
    own = (
        _message_without_summary(before, incident)
        if summary is None
        else _message_from_summary(summary, settings)
    )
    return msgspec.structs.replace(
        own,
        revision=max(1, incident.revision),
        severity=incident.severity.level,
        since=incident.onset,
        times=tuple(incident.timeline),
        is_flapping=incident.is_flapping,
    )


def _message_from_summary(summary: IncidentSummary, settings: RoutingSettings) -> Message:
    return Message(
        incident_id=summary.incident.id,
        revision=1,
        kind="changed",
        severity="ticket",
        what=summary.what,
        since=0,
        at=0,
        root=summary.root,
        owner="",
        impacted=summary.impacted[:MAX_LISTED],
        impacted_count=summary.impacted_count,
        tiers=summary.tiers,
        error=summary.error,
        first_difference=summary.first_difference,
        links=links_of(summary, settings),
        correlation_id=summary.correlation_id,
        is_bridged=summary.is_bridged,
    )


def _message_without_summary(before: NotificationState | None, incident: Incident) -> Message:
    """Return what is known without a summary: a poor message beats none."""
    if before is not None:
        return before.draft
    root = incident.root
    return Message(
        incident_id=incident.id,
        revision=1,
        kind="changed",
        severity="ticket",
        what=sentences.unknown_fault(root.kind),
        since=0,
        at=0,
        root=MessageRoot(root.entity, root.name or f"{root.key}", ""),
        owner="",
    )
