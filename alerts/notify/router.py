"""Where the watch, the clock and Alertmanager's calls come to: each in a transaction of theirs."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy import Connection, select

from alerts.incidents.steps import Step
from alerts.notify import state_store
from alerts.notify.alertmanager_alerts import Heard, Known, heard, incident_of, is_outage, stand_in
from alerts.notify.alertmanager_webhook import Call
from alerts.notify.context import Scene
from alerts.notify.digests import is_digest_due, tell_tickets
from alerts.notify.escalation import escalate_now
from alerts.notify.incident_summary import Picture
from alerts.notify.labels import root_kind
from alerts.notify.notification_plan import Sheet
from alerts.notify.notification_state import MICROS, Telling
from alerts.notify.planning import Decided, by_time, decided, letters, released
from alerts.notify.retention import forget
from alerts.notify.routing_settings import RoutingSettings
from alerts.notify.suppression_summary import is_window_due, tell_hidden
from alerts.notify.ticket_caps import Openings
from lineage.catalog.pieces import pieces
from lineage.catalog.tables import incident_telling, received_alert
from lineage.catalog.upsert import fold_rows
from lineage.policy.model import Policy

# An outage that Alertmanager told of is believed for so long: we see one ourselves by then.
_BELIEVED_SECONDS: Final = 900
_log = structlog.get_logger(__name__)


def told(  # noqa: PLR0913, PLR0917 - a transaction, what happened, what it is judged by
    connection: Connection,
    step: Step,
    pictures: Mapping[str, Picture],
    policy: Policy,
    settings: RoutingSettings,
    at: int,
) -> None:
    """Have people told what a step changed.

    Args:
        connection: in the write transaction of that change.
        step: of the incidents' lives.
        pictures: by incident id, of each that changed.
        policy: in force.
        settings: of this process.
        at: the step's instant, µs.
    """
    if not step.changed:
        return
    scene = _scene(connection, policy, settings, at)
    before = state_store.tellings_of(connection, (own.id for own in step.changed))
    spoken = _spoken_of(connection, step, before)
    alerts = {number: [stand_in(each, scene, at) for each in own] for number, own in spoken.items()}
    state_store.write(
        connection, letters(step, pictures, before, scene, at, alerts=alerts), scene, at
    )
    for number, own in spoken.items():
        for known, sheet in zip(own, alerts[number], strict=True):
            _take_over(connection, known, sheet, number)


def turn(connection: Connection, policy: Policy, settings: RoutingSettings, at: int) -> None:
    """Have people told what time brings; to be called once a second, in a write transaction."""
    scene = _scene(connection, policy, settings, at)
    due = state_store.due(connection, policy.hash, at)
    if due:
        state_store.write(connection, by_time(due, scene, at), scene, at)
    if tell_tickets(connection, scene, at):
        forget(connection, settings.keep_days, at)
    tell_hidden(connection, scene, at)


def is_due(connection: Connection, policy: Policy, settings: RoutingSettings, at: int) -> bool:
    """Whether `turn` has anything to do: asked of a connection that only reads."""
    return (
        state_store.is_due(connection, policy.hash, at)
        or is_digest_due(connection, policy, settings, at)
        or is_window_due(connection, at)
    )


def receive(
    connection: Connection, call: Call, policy: Policy, settings: RoutingSettings, at: int
) -> Heard:
    """Take a call of Alertmanager, in a write transaction; what it came to."""
    if call.truncated_alerts:
        _log.warning("alerts_left_out", count=call.truncated_alerts)
    scene = _scene(connection, policy, settings, at)
    before = _known(connection, [alert.fingerprint for alert in call.alerts])
    found = heard(call.alerts, before, _open_faults(connection), scene, at)
    for each in found.known:
        _keep(connection, each)
    state_store.write(connection, Decided(letters=found.letters, gaps=found.gaps), scene, at)
    named = state_store.tellings_of(connection, found.released).values()
    live = [telling for telling in named if telling.ended_at is None]
    state_store.write(connection, released(live, scene, at), scene, at)
    return found


def escalate(  # noqa: PLR0913, PLR0917 - as `told`
    connection: Connection,
    incident_id: str,
    by: str,
    policy: Policy,
    settings: RoutingSettings,
    at: int,
) -> tuple[str, ...]:
    """Take the next step of an incident's escalation now, as a person asks.

    Returns:
        The channels that were told; none where no step is left, or nobody was told of it yet.
    """
    scene = _scene(connection, policy, settings, at)
    known = state_store.tellings_of(connection, [incident_id]).get(incident_id)
    if known is None:
        return ()
    sheet = Sheet(known, at)
    channels = escalate_now(sheet, scene, by)
    state_store.write(connection, decided([sheet]), scene, at)
    return channels


def _scene(connection: Connection, policy: Policy, settings: RoutingSettings, at: int) -> Scene:
    outages = state_store.outages(connection)
    since = at - _BELIEVED_SECONDS * MICROS
    heard_of = [known for known in _firing(connection) if known.received_at >= since]
    openings = Openings(partial(state_store.opened_lately, connection, at))
    return Scene(policy, settings, outages, is_outage(heard_of), openings)


def _spoken_of(
    connection: Connection, step: Step, before: Mapping[str, Telling]
) -> dict[str, list[Known]]:
    """Alerts that were told of what only now is an incident."""
    fresh = {
        own.id: root_kind(own.root)
        for own in step.changed
        if own.state in {"open", "acknowledged"} and not _is_told(before.get(own.id))
    }
    found: dict[str, list[Known]] = {}
    for known in _firing(connection) if fresh else ():
        number = incident_of(known.labels, fresh)
        if number is not None and known.channels:
            found.setdefault(number, []).append(known)
    return found


def _is_told(telling: Telling | None) -> bool:
    return telling is not None and telling.is_told


def _take_over(connection: Connection, known: Known, sheet: Sheet, number: str) -> None:
    """It stands for that incident now, if that was told."""
    if not sheet.telling.open_places:
        revision = max(known.revision, sheet.telling.revision)
        own = {"incident_id": number, "channels": (), "revision": revision}
        _keep(connection, msgspec.structs.replace(known, **own))


def _open_faults(connection: Connection) -> dict[str, str]:
    table = incident_telling
    rows = connection.execute(select(table.c.incident_id, table.c.fault).where(table.c.is_bad))
    return {str(incident_id): str(fault) for incident_id, fault in rows}


def _firing(connection: Connection) -> list[Known]:
    query = select(received_alert).where(received_alert.c.ends_at.is_(None))
    rows = connection.execute(query.order_by(received_alert.c.fingerprint)).mappings()
    return [_known_of(row) for row in rows]


def _known(connection: Connection, fingerprints: Iterable[str]) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for piece in pieces(sorted(set(fingerprints))):
        own = select(received_alert).where(received_alert.c.fingerprint.in_(piece))
        own = own.order_by(received_alert.c.fingerprint).with_for_update()
        rows = connection.execute(own).mappings()
        found |= {row["fingerprint"]: _known_of(row) for row in rows}
    return found


_JSON: Final = ("labels", "annotations", "channels")


def _known_of(row: Mapping[Any, Any]) -> Known:
    # SQLAlchemy's names are texts of a class of its own, which msgspec takes for no texts.
    told = {str(name): value for name, value in row.items()}
    return msgspec.convert(told | {name: msgspec.json.decode(row[name]) for name in _JSON}, Known)


def _keep(connection: Connection, known: Known) -> None:
    row = msgspec.structs.asdict(known)
    row |= {name: msgspec.json.encode(row[name]).decode() for name in _JSON}
    fold_rows(connection, received_alert, [row])
