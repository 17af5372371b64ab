"""Entry points of routing: a step of incidents, a second that passed, a post of Alertmanager.

Each runs in a write transaction of its caller.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy import Connection, select

from alerts.incidents.steps import StepResult
from alerts.notify import state_store
from alerts.notify.alertmanager_alerts import (
    AlertRecord,
    WebhookResult,
    find_incident,
    has_outage,
    plan_from_alert,
    process_alerts,
)
from alerts.notify.alertmanager_webhook import WebhookPayload
from alerts.notify.context import RoutingContext
from alerts.notify.digests import is_digest_due, send_digests
from alerts.notify.escalation import escalate_now
from alerts.notify.incident_summary import IncidentSummary
from alerts.notify.notification_plan import NotificationPlan
from alerts.notify.notification_state import NotificationState
from alerts.notify.planning import (
    RoutingResult,
    collect_result,
    plan_confirmed,
    plan_due,
    plan_step,
)
from alerts.notify.settings import RoutingSettings
from alerts.notify.state_store import prune_ended
from alerts.notify.suppression_summary import is_window_due, send_summaries
from alerts.notify.ticket_caps import TicketCaps
from alerts.root_cause.faults import label_of_root
from lineage.catalog.queries import split_batches
from lineage.catalog.tables import incident_notification, received_alert
from lineage.catalog.upsert import fold_rows
from lineage.policy.model import Policy
from lineage.process.clock import SECOND_MICROS

# An alert on an outage mutes for so long; the catalog shows the outage by then.
_BELIEVED_SECONDS: Final = 900
_JSON: Final = ("labels", "annotations", "channels")  # columns of JSON
_log = structlog.get_logger(__name__)


def route_incident_step(  # noqa: PLR0913, PLR0917 - a transaction, what happened, what it is judged by
    connection: Connection,
    step: StepResult,
    summaries: Mapping[str, IncidentSummary],
    policy: Policy,
    settings: RoutingSettings,
    at: int,
) -> None:
    """Notify people of what a step changed.

    Args:
        connection: in the write transaction of that change.
        step: of the incidents' lives.
        summaries: by incident id, of each that changed.
        policy: in force.
        settings: of this process.
        at: the step's instant, µs.
    """
    if not step.changed:
        return
    context = _load_context(connection, policy, settings, at)
    before = state_store.load_states(connection, (own.id for own in step.changed))
    spoken = _load_duplicates(connection, step, before)
    alerts = {
        number: [plan_from_alert(each, context, at) for each in own]
        for number, own in spoken.items()
    }
    state_store.save_result(
        connection, plan_step(step, summaries, before, context, at, alerts=alerts), context, at
    )
    for number, own in spoken.items():
        for known, plan in zip(own, alerts[number], strict=True):
            _attach_alert(connection, known, plan, number)


def route_due(connection: Connection, policy: Policy, settings: RoutingSettings, at: int) -> None:
    """Notify people of what is due; called once a second."""
    context = _load_context(connection, policy, settings, at)
    due = state_store.load_due(connection, policy.hash, at)
    if due:
        state_store.save_result(connection, plan_due(due, context, at), context, at)
    if send_digests(connection, context, at):
        prune_ended(connection, settings.keep_days, at)
    send_summaries(connection, context, at)


def is_route_due(
    connection: Connection, policy: Policy, settings: RoutingSettings, at: int
) -> bool:
    """Return whether `route_due` has work; a connection that only reads is enough."""
    return (
        state_store.has_due(connection, policy.hash, at)
        or is_digest_due(connection, policy, settings, at)
        or is_window_due(connection, at)
    )


def receive_webhook(
    connection: Connection, call: WebhookPayload, policy: Policy, settings: RoutingSettings, at: int
) -> WebhookResult:
    """Process a post of Alertmanager; return its result."""
    if call.truncated_alerts:
        _log.warning("alerts_left_out", count=call.truncated_alerts)
    context = _load_context(connection, policy, settings, at)
    before = _load_alerts(connection, [alert.fingerprint for alert in call.alerts])
    found = process_alerts(call.alerts, before, _load_open_faults(connection), context, at)
    for each in found.known:
        _save_alert(connection, each)
    state_store.save_result(
        connection,
        RoutingResult(notifications=found.notifications, without_recipient=found.without_recipient),
        context,
        at,
    )
    named = state_store.load_states(connection, found.confirmed).values()
    live = [state for state in named if state.ended_at is None]
    state_store.save_result(connection, plan_confirmed(live, context, at), context, at)
    return found


def escalate_incident(  # noqa: PLR0913, PLR0917 - as `route_incident_step`
    connection: Connection,
    incident_id: str,
    by: str,
    policy: Policy,
    settings: RoutingSettings,
    at: int,
) -> bool:
    """Take the next step of an incident's escalation on request.

    Returns:
        Whether a step was taken: not if none with a channel is left, or if nobody was notified
        yet.
    """
    context = _load_context(connection, policy, settings, at)
    known = state_store.load_states(connection, [incident_id]).get(incident_id)
    if known is None:
        return False
    plan = NotificationPlan(known, at)
    is_taken = escalate_now(plan, context, by)
    state_store.save_result(connection, collect_result([plan]), context, at)
    return is_taken


def _load_context(
    connection: Connection, policy: Policy, settings: RoutingSettings, at: int
) -> RoutingContext:
    outages = state_store.load_outages(connection)
    since = at - _BELIEVED_SECONDS * SECOND_MICROS
    firing = [known for known in _load_firing(connection) if known.received_at >= since]
    openings = TicketCaps(partial(state_store.count_recent_tickets, connection, at))
    return RoutingContext(policy, settings, outages, has_outage(firing), openings)


def _load_duplicates(
    connection: Connection, step: StepResult, before: Mapping[str, NotificationState]
) -> dict[str, list[AlertRecord]]:
    """Load alerts that people were notified of and that are an incident only now."""
    fresh = {
        own.id: label_of_root(own.root)
        for own in step.changed
        if own.state in {"open", "acknowledged"} and not _is_notified(before.get(own.id))
    }
    found: dict[str, list[AlertRecord]] = {}
    for known in _load_firing(connection) if fresh else ():
        number = find_incident(known.labels, fresh)
        if number is not None and known.channels:
            found.setdefault(number, []).append(known)
    return found


def _is_notified(state: NotificationState | None) -> bool:
    return state is not None and state.is_notified


def _attach_alert(
    connection: Connection, known: AlertRecord, plan: NotificationPlan, number: str
) -> None:
    """Attach the alert to the incident, if people were notified of that."""
    if not plan.state.open_channels:
        revision = max(known.revision, plan.state.revision)
        own = {"incident_id": number, "channels": (), "revision": revision}
        _save_alert(connection, msgspec.structs.replace(known, **own))


def _load_open_faults(connection: Connection) -> dict[str, str]:
    table = incident_notification
    rows = connection.execute(select(table.c.incident_id, table.c.fault).where(table.c.is_bad))
    return {str(incident_id): str(fault) for incident_id, fault in rows}


def _load_firing(connection: Connection) -> list[AlertRecord]:
    query = select(received_alert).where(received_alert.c.ends_at.is_(None))
    rows = connection.execute(query.order_by(received_alert.c.fingerprint)).mappings()
    return [_parse_alert(row) for row in rows]


def _load_alerts(connection: Connection, fingerprints: Iterable[str]) -> dict[str, AlertRecord]:
    found: dict[str, AlertRecord] = {}
    for piece in split_batches(sorted(set(fingerprints))):
        own = select(received_alert).where(received_alert.c.fingerprint.in_(piece))
        own = own.order_by(received_alert.c.fingerprint).with_for_update()
        rows = connection.execute(own).mappings()
        found |= {row["fingerprint"]: _parse_alert(row) for row in rows}
    return found


def _parse_alert(row: Mapping[Any, Any]) -> AlertRecord:
    # SQLAlchemy's names are texts of a class of its own, which msgspec takes for no texts.
    values = {str(name): value for name, value in row.items()}
    return msgspec.convert(
        values | {name: msgspec.json.decode(row[name]) for name in _JSON}, AlertRecord
    )


def _save_alert(connection: Connection, known: AlertRecord) -> None:
    row = msgspec.structs.asdict(known)
    row |= {name: msgspec.json.encode(row[name]).decode() for name in _JSON}
    fold_rows(connection, received_alert, [row])
