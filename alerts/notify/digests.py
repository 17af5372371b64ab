"""Once a day each owner hears which tickets are open: in one message, or in none."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, select

from alerts.incidents.times import BEGAN
from alerts.notify.context import Scene
from alerts.notify.formatting import moment
from alerts.notify.links import full_list
from alerts.notify.message import MAX_LISTED, Links, Message, Root
from alerts.notify.notification_plan import Letter
from alerts.notify.notification_state import Telling
from alerts.notify.recipients import SLACK, WEBHOOK, owner_named, ways
from alerts.notify.routing_settings import RoutingSettings
from alerts.notify.state_store import send, tellings_where
from lineage import keys
from lineage.catalog.tables import digest, incident_telling
from lineage.catalog.upsert import insert_for
from lineage.clock import from_micros, to_micros
from lineage.policy.model import Policy

_ALL: Final = ""  # of that day, whoever it is


class _Entry(NamedTuple):
    """Line of a digest, with what sorts it."""

    since: int
    name: str
    line: str


def tell_tickets(connection: Connection, scene: Scene, at: int) -> bool:
    """From the hour that is set, once a day, in the policy's time zone; whether it was now."""
    local = _local(scene.policy, at)
    if not is_digest_due(connection, scene.policy, scene.settings, at):
        return False
    if not _note_told(connection, _ALL, _day(local), at):
        return False  # another service was a moment earlier
    table = incident_telling
    tickets = tellings_where(connection, table.c.is_bad, table.c.severity == "ticket")
    for letter in digests(tickets, scene, local):
        send(connection, letter)
        _note_told(connection, letter.message.owner, _day(local), at)
    return True


def is_digest_due(
    connection: Connection, policy: Policy, settings: RoutingSettings, at: int
) -> bool:
    """Whether the hour has come, and nobody was told of this day."""
    local = _local(policy, at)
    return local.hour >= settings.digest_hour and not _is_told(connection, _ALL, _day(local))


def _local(policy: Policy, at: int) -> datetime:
    return from_micros(at).astimezone(ZoneInfo(policy.time_zone))


def digests(tickets: Iterable[Telling], scene: Scene, now: datetime) -> list[Letter]:
    """Return one message for each owner of open tickets, the oldest first; pure.

    Gaps that nobody was notified of are one line for each system that they are of.
    """
    by_owner: dict[str, list[_Entry]] = defaultdict(list)
    gaps: dict[tuple[str, str], list[Telling]] = defaultdict(list)
    for ticket in tickets:
        if ticket.is_told:
            own = ticket.draft
            entry = _Entry(own.since, ticket.incident_id, line_of(ticket))
            by_owner[ticket.addressee].append(entry)
        elif ticket.is_for_digest:
            owner = scene.address(ticket.owner, "ticket").owner
            gaps[owner, ticket.draft.root.namespace].append(ticket)
    for (owner, system), each in gaps.items():
        by_owner[owner].append(_gap_of(system, each))
    letters = (_letter(owner, own, scene, now) for owner, own in sorted(by_owner.items()))
    return [letter for letter in letters if letter is not None]


def _gap_of(system: str, tickets: Sequence[Telling]) -> _Entry:
    since, count = min(each.draft.since for each in tickets), len(tickets)
    many = "1 dataset has" if count == 1 else f"{count} datasets have"
    line = (
        f"{system}: {many} no producer ({BEGAN} {moment(since)}). If that is right, declare"
        f" {'it as a source' if count == 1 else 'them as sources'} in the policy."
    )
    return _Entry(since, system, line)


def _letter(owner: str, tickets: Sequence[_Entry], scene: Scene, now: datetime) -> Letter | None:
    channel = _channel(owner, scene)
    if channel is None:
        return None
    oldest = sorted(tickets)
    count = len(oldest)
    message = Message(
        incident_id=f"digest-{_day(now)}-{keys.key(owner) % (1 << 64):016x}",
        revision=1,
        kind="notice",
        severity="ticket",
        what=f"{count} {'ticket is' if count == 1 else 'tickets are'} open",
        since=oldest[0].since,
        at=to_micros(now),
        root=Root("digest of", owner, "tickets"),
        owner=owner,
        lines=tuple(each.line for each in oldest[:MAX_LISTED]),
        note=f"and {count - MAX_LISTED} more" if count > MAX_LISTED else "",
        links=Links(full_list=full_list(None, scene.settings)),
    )
    return Letter(message, channel)


def _channel(owner: str, scene: Scene) -> str | None:
    """Its Slack; else the webhook for tickets. Nobody is rung for a digest."""
    own = ways(owner_named(scene.policy, owner), "ticket", scene.settings)
    last = scene.settings.fallback or ""
    quiet = [each for each in (*own, last) if each.startswith((SLACK, WEBHOOK))]
    return quiet[0] if quiet else None


def line_of(told: Telling) -> str:
    """One incident in a list."""
    own = told.draft
    state = "" if told.state == "open" else f", {told.state}"
    return f"{own.root.name}: {own.what} ({BEGAN} {moment(own.since)}{state})"


def _day(local: datetime) -> str:
    return f"{local:%Y-%m-%d}"


def _is_told(connection: Connection, owner: str, day: str) -> bool:
    own = (digest.c.owner == owner, digest.c.day == day)
    return connection.scalar(select(digest.c.told_at).where(*own)) is not None


def _note_told(connection: Connection, owner: str, day: str, at: int) -> bool:
    """Return whether nobody else noted the same."""
    once = insert_for(connection.dialect)(digest).on_conflict_do_nothing()
    noted = connection.scalar(
        once.values(owner=owner, day=day, told_at=at).returning(digest.c.owner)
    )
    return noted is not None
