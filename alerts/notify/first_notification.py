"""Who is told for the first time, and whether that may ring.

A person is rung once for a fault, and two people at most. Whoever was rung already is told in
Slack; PagerDuty rings again only where there is no other way, or where what was told to be over
came back and stayed, and even then no third time.
"""

import msgspec

from alerts.incidents.severity import PAGE
from alerts.notify.context import AGAIN_SECONDS, HELD_SECONDS, RINGS, Scene
from alerts.notify.message import Kind
from alerts.notify.notification_plan import Sheet
from alerts.notify.notification_state import MICROS, Place, Role
from alerts.notify.recipients import SLACK


def begin(sheet: Sheet, scene: Scene) -> None:
    """Tell of it, unless Alertmanager or the digest is waited for, or an outage explains it."""
    if sheet.telling.is_for_digest:
        sheet.note(waits_until=None)
        return
    until = _waits_until(sheet, scene)
    channels = _capped_channels(sheet, scene)
    if until > sheet.at:
        sheet.note(waits_until=until)
    elif channels and all(map(scene.openings.is_full, channels)):
        sheet.note(waits_until=sheet.at + HELD_SECONDS * MICROS)
        sheet.held.extend(channels)
    else:
        for channel in channels:
            scene.openings.add(channel)
        open_all(sheet, scene, "opened", "")


def _capped_channels(sheet: Sheet, scene: Scene) -> list[str]:
    """Return the channels of a ticket that people read; pages and webhooks have no cap."""
    own = sheet.telling
    if own.draft.severity == PAGE:
        return []
    channels = scene.address(own.owner, own.draft.severity).channels
    return [each for each in channels if each.startswith(SLACK)]


def _waits_until(sheet: Sheet, scene: Scene) -> int:
    own, settings = sheet.telling, scene.settings
    if own.is_released:  # Alertmanager knows what is muted
        return sheet.at
    until = own.waits_until
    if until is None and settings.mode == "alertmanager":
        until = sheet.at + settings.release_seconds * MICROS
    if own.addressee and scene.address(own.owner, own.draft.severity).channels:
        until = sheet.at  # nobody could be notified before: the policy is another one
    if (until or 0) <= sheet.at and scene.is_muted(own):
        return sheet.at + AGAIN_SECONDS * MICROS
    return until or sheet.at


def open_all(sheet: Sheet, scene: Scene, kind: Kind, note: str) -> None:
    """To every channel of whoever is to mend it."""
    address = scene.address(sheet.telling.owner, sheet.telling.draft.severity)
    sheet.note(addressee=address.owner, note=address.note, ring_at=None)
    if address.gap:
        sheet.gaps.append(address.gap)
    if not address.channels:
        sheet.note(waits_until=sheet.at + AGAIN_SECONDS * 60 * MICROS)
        return
    sheet.note(told_at=sheet.at, said_at=sheet.at, is_stale=False, waits_until=None)
    said = joined_notes(address.note, note)
    is_alone = all(Place(each, "owner", "").rings for each in address.channels)
    for channel in address.channels:
        tell(sheet, scene, channel, kind, said, is_alone=is_alone)


def tell(  # noqa: PLR0913 - each is another thing that decides
    sheet: Sheet,
    scene: Scene,
    channel: str,
    kind: Kind,
    note: str,
    *,
    role: Role = "owner",
    is_alone: bool = False,
) -> None:
    """Open a channel, if that rings nobody twice."""
    place = sheet.telling.place(channel) or Place(
        channel, role, sheet.telling.incident_id, is_open=False
    )
    if place.is_open:
        sheet.keep(msgspec.structs.replace(place, role=_stronger(place.role, role)))
        sheet.write(place, "changed", note)
    elif not place.rings:
        sheet.open(channel, role, kind, note)
    elif is_alone or _may_ring(sheet, place, role):
        sheet.open(channel, role, "opened", note)
    elif role == "owner" and sheet.telling.state == "open":
        sheet.keep(place)
        sheet.note(ring_at=sheet.at + scene.settings.again_seconds * MICROS)


def _may_ring(sheet: Sheet, place: Place, role: Role) -> bool:
    """Nobody who knows, none for what somebody has taken on, and of owners not a third."""
    if place.rung or sheet.telling.state != "open":
        return False
    return role == "step" or sheet.telling.rings < RINGS


def _stronger(one: Role, other: Role) -> Role:
    return "owner" if "owner" in {one, other} else "step"


def ring_late(sheet: Sheet, scene: Scene) -> None:
    """What came back stayed, and nobody has taken it on: ring now, once."""
    own = sheet.telling
    sheet.note(ring_at=None)
    address = scene.address(own.owner, own.draft.severity)
    if own.state != "open":
        return
    for channel in address.channels:
        place = own.place(channel) or Place(channel, "owner", own.incident_id, is_open=False)
        if place.rings and not place.is_open and (not place.rung or own.rings < RINGS):
            note = f"Bad for {scene.settings.again_seconds // 60} min again, and not acknowledged."
            sheet.open(channel, "owner", "opened", joined_notes(own.note, note))


def joined_notes(*notes: str) -> str:
    """Sentences, one after the other."""
    return " ".join(filter(None, notes))
