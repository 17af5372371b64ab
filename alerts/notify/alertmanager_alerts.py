"""Alerts that Alertmanager posts.

Alerts on an incident confirm it. Other alerts are messages of their own. A resolved alert ends no
incident: the incident ends by the catalog.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from alerts.incidents.times import FIRING_SINCE, NamedTime
from alerts.notify import sentences
from alerts.notify.alertmanager_webhook import FiredAlert
from alerts.notify.channels.registry import can_page
from alerts.notify.context import RoutingContext
from alerts.notify.links import runbook_link
from alerts.notify.message import Message, MessageKind, MessageLinks, MessageRoot, Severity
from alerts.notify.notification_plan import Notification, NotificationPlan
from alerts.notify.notification_state import ChannelState, NotificationState
from alerts.own_parts import OUTAGE_PARTS
from alerts.rules.burn_windows import ESCALATION
from alerts.rules.incident_alerts import INCIDENT_ALERT_NAMES
from alerts.rules.model import OUTAGE_LABEL
from alerts.rules.service_alerts import WATCHDOG
from alerts.rules.zero_budget import UNAUTHORIZED_ALERT
from lineage.process.clock import from_micros
from lineage.states import INGESTION_LAG, PAGE, UNAUTHORIZED_ACCESS

_MARQUEZ: Final = "marquez"


class AlertRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Alert as it was last received. Timestamps in µs.

    Attributes:
        ends_at: None: it fires.
        incident_id: the open incident that it speaks of; None: it has messages of its own.
        revision: of its newest message; 0: it has none.
        channels: that were notified and not of its end.
    """

    fingerprint: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: int
    received_at: int
    ends_at: int | None = None
    incident_id: str | None = None
    revision: int = 0
    channels: tuple[str, ...] = ()


class WebhookResult(msgspec.Struct, frozen=True):
    """Result of one post of Alertmanager.

    Attributes:
        confirmed: incidents that an alert confirms.
        notifications: of alerts that belong to no incident.
        known: each alert as it is now.
        without_recipient: a word for each time that nobody could be notified.
    """

    confirmed: frozenset[str]
    notifications: tuple[Notification, ...]
    known: tuple[AlertRecord, ...]
    without_recipient: tuple[str, ...] = ()


def process_alerts(
    alerts: Iterable[FiredAlert],
    known: Mapping[str, AlertRecord],
    open_faults: Mapping[str, str],
    context: RoutingContext,
    at: int,
) -> WebhookResult:
    """Return what the alerts of one post change.

    Args:
        alerts: of one call.
        known: what was received of them before, by fingerprint.
        open_faults: of incidents that are open, `root_kind` by incident id.
        context: the policy and the settings.
        at: µs.
    """
    confirmed: set[str] = set()
    notifications: list[Notification] = []
    now: list[AlertRecord] = []
    without_recipient: list[str] = []
    for alert in {each.fingerprint: each for each in alerts}.values():
        if alert.name == WATCHDOG:
            continue
        if alert.name in INCIDENT_ALERT_NAMES.values():
            confirmed |= {alert.labels.get("incident", "")} if alert.is_firing else set()
            continue
        before = known.get(alert.fingerprint)
        own = _merge_alert(alert, before, open_faults, at)
        if own.incident_id is not None and alert.is_firing:
            confirmed.add(own.incident_id)
        record, found, problems = _notify(own, context, at, is_refired=_is_refired(alert, before))
        notifications += found
        now.append(record)
        without_recipient += problems
    return WebhookResult(
        frozenset(confirmed - {""}), tuple(notifications), tuple(now), tuple(without_recipient)
    )


def _merge_alert(
    alert: FiredAlert, before: AlertRecord | None, open_faults: Mapping[str, str], at: int
) -> AlertRecord:
    """Return the alert with what is known of it; an alert attached to an incident stays so."""
    is_same = before is not None and before.ends_at is None and not _is_refired(alert, before)
    own = before.incident_id if before is not None and is_same else None
    is_notified = before is not None and bool(before.channels)
    if own is None and not is_notified:
        own = find_incident(alert.labels, open_faults)
    return AlertRecord(
        fingerprint=alert.fingerprint,
        name=alert.name.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        labels=alert.labels,
        annotations=alert.annotations,
        starts_at=alert.began_at,
        received_at=at,
        ends_at=None if alert.is_firing else at,
        incident_id=own,
        revision=0 if before is None else before.revision,
        channels=() if before is None else before.channels,
    )


def find_incident(labels: Mapping[str, str], open_faults: Mapping[str, str]) -> str | None:
    """Return the open incident that explains an alert or duplicates it; None: there is none."""
    wanted = _matching_faults(labels)
    return min((each for each, fault in open_faults.items() if fault in wanted), default=None)


def _matching_faults(labels: Mapping[str, str]) -> frozenset[str]:
    if labels.get("alertname") == UNAUTHORIZED_ALERT:
        return frozenset({UNAUTHORIZED_ACCESS.name})
    is_lag = labels.get("sli") == INGESTION_LAG.name
    if labels.get("root") == OUTAGE_LABEL or labels.get("area") == "datasets" or is_lag:
        return frozenset(OUTAGE_PARTS)
    return frozenset({_MARQUEZ} if labels.get("root") == _MARQUEZ else ())


def _is_refired(alert: FiredAlert, before: AlertRecord | None) -> bool:
    """Return whether it ended unnoticed: Alertmanager kept no data, and `startsAt` is later."""
    return before is not None and alert.is_firing and alert.began_at > before.starts_at


def _notify(
    own: AlertRecord, context: RoutingContext, at: int, *, is_refired: bool
) -> tuple[AlertRecord, list[Notification], list[str]]:
    """Notify when an alert begins and when it ends; a repetition is no news."""
    is_notified, is_firing = bool(own.channels), own.ends_at is None
    is_news = is_firing != is_notified or (is_notified and is_refired)
    if own.incident_id is not None or not is_news:
        return own, [], []
    if not is_firing:
        return _notify_resolved(own, context, at)
    address = context.address(_owner(own, context), _severity(own))
    channels = tuple(dict.fromkeys((*own.channels, *address.channels)))
    record = msgspec.structs.replace(own, revision=own.revision + 1, channels=channels)
    kind: MessageKind = "changed" if is_notified else "opened"
    note = sentences.join_sentences(sentences.REFIRED if is_notified else "", address.note)
    message = _message(record, context, at, kind=kind, owner=address.owner, note=note)
    # PagerDuty is sent no change, and its alert may be resolved: an alert that refires opens it.
    begun = msgspec.structs.replace(message, kind="opened")
    notifications = [
        Notification(begun if can_page(channel) else message, channel) for channel in channels
    ]
    return record, notifications, [address.problem] if address.problem else []


def _notify_resolved(
    own: AlertRecord, context: RoutingContext, at: int
) -> tuple[AlertRecord, list[Notification], list[str]]:
    over = msgspec.structs.replace(own, revision=own.revision + 1, channels=())
    owner = context.address(_owner(own, context), _severity(own)).owner
    message = _message(over, context, at, kind="resolved", owner=owner, note=sentences.ALERT_ENDED)
    return over, [Notification(message, channel) for channel in own.channels], []


def plan_from_alert(known: AlertRecord, context: RoutingContext, at: int) -> NotificationPlan:
    """Return the plan of an alert, for the incident that takes over its channels."""
    owner = context.address(_owner(known, context), _severity(known)).owner
    number = f"alert-{known.fingerprint}"
    channels = (ChannelState(channel, "owner", number) for channel in known.channels)
    state = NotificationState(
        incident_id=number,
        draft=_message(known, context, at, kind="changed", owner=owner, note=""),
        incident_state="open",
        fault=known.name,
        addressee=owner,
        revision=known.revision,
        channels=tuple(
            msgspec.structs.replace(channel_state, page_count=1)
            if channel_state.can_page
            else channel_state
            for channel_state in channels
        ),
    )
    return NotificationPlan(state, at)


def _owner(own: AlertRecord, context: RoutingContext) -> str:
    settings = context.settings
    if own.labels.get("severity") == ESCALATION and "owner" not in own.labels:
        return settings.engineering or settings.platform
    return own.labels.get("owner") or settings.platform


def _severity(own: AlertRecord) -> Severity:
    return PAGE if own.labels.get("severity") == PAGE else "ticket"


def _message(  # noqa: PLR0913 - each stands in it
    own: AlertRecord, context: RoutingContext, at: int, *, kind: MessageKind, owner: str, note: str
) -> Message:
    since = min(own.starts_at, at)
    return Message(
        incident_id=f"alert-{own.fingerprint}",
        revision=own.revision,
        kind=kind,
        severity=_severity(own),
        what=own.annotations.get("summary") or own.name,
        since=since,
        times=(NamedTime(FIRING_SINCE, since),),
        at=at,
        root=_root(own),
        owner=owner,
        note=sentences.join_sentences(note, own.annotations.get("description", "")),
        links=MessageLinks(runbook=runbook_link(own.name, context.settings)),
        correlation_id=f"alert-{own.fingerprint}-{from_micros(own.starts_at):%Y%m%dT%H%M%SZ}",
        is_answerable=False,
    )


def _root(own: AlertRecord) -> MessageRoot:
    """Return the alert with what it is about; without these labels it is about Lineward."""
    about = dict.fromkeys(own.labels.get(name, "") for name in ("sli", "tier", "root", "job"))
    name = " ".join(filter(None, about))
    return MessageRoot(own.name, name or "lineward", "lineward" if name else "")


def has_outage(known: Sequence[AlertRecord]) -> bool:
    """Return whether any of these alerts fires and reports that no lineage arrives."""
    return any(each.labels.get("root") == OUTAGE_LABEL for each in known)
