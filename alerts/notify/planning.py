"""Who is told what: by a step of the incidents' lives, by time, by Alertmanager's call. Pure."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from alerts.incidents.steps import Event, Step
from alerts.notify import downstream_notices
from alerts.notify.context import JOINED_SECONDS, Scene, is_outage
from alerts.notify.escalation import escalate_due
from alerts.notify.first_notification import begin, ring_late
from alerts.notify.incident_summary import Picture
from alerts.notify.message_draft import redrafted
from alerts.notify.notification_plan import Escalated, Letter, Sheet
from alerts.notify.notification_state import MICROS, Telling
from alerts.notify.state_clock import not_ahead
from alerts.notify.updates import follow


class Decided(msgspec.Struct, frozen=True):
    """What is said, and what is known afterwards.

    Attributes:
        letters: in the order in which they are to be put into the outbox.
        tellings: those that changed.
        escalated: steps that were taken.
        gaps: a word for each time that the policy named nobody who can be told.
        held: a channel for each ticket that is over its cap.
    """

    letters: tuple[Letter, ...] = ()
    tellings: tuple[Telling, ...] = ()
    escalated: tuple[Escalated, ...] = ()
    gaps: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


def letters(  # noqa: PLR0913 - each is another thing that decides
    step: Step,
    pictures: Mapping[str, Picture],
    tellings: Mapping[str, Telling],
    scene: Scene,
    at: int,
    *,
    alerts: Mapping[str, Sequence[Sheet]] | None = None,
) -> Decided:
    """By a step.

    Args:
        step: what changed.
        pictures: by incident id, of what changed.
        tellings: by incident id, what is known to have been said of what changed.
        scene: the policy, the settings, and the outages before this step.
        at: µs.
        alerts: by incident id, Alertmanager's that were told and are another word for it.
    """
    news = _news(step.events)
    sheets = {
        own.id: Sheet(
            redrafted(tellings.get(own.id), own, pictures.get(own.id), scene.settings), at
        )
        for own in step.changed
    }
    now = _with_outages(scene, sheets.values())
    taken = {own.id: own.merged_into for own in step.changed if own.merged_into}
    # Who takes over goes first: what it keeps of the other must not end with that.
    for own in sorted(step.changed, key=lambda each: each.id in taken):
        sheet = sheets[own.id]
        if (picture := pictures.get(own.id)) is not None:
            downstream_notices.prepare(sheet, picture, news.get(own.id, ()), now)
        others = [sheets[each] for each, into in taken.items() if into == own.id]
        stand_ins = (alerts or {}).get(own.id, ())
        follow(sheet, own, news.get(own.id, ()), now, [*others, *stand_ins])
        downstream_notices.give(sheet)
        _end(stand_ins, sheet)
    found = decided(sheets.values())
    ended = decided(sheet for each in (alerts or {}).values() for sheet in each)
    return msgspec.structs.replace(found, letters=(*found.letters, *ended.letters))


def _end(stand_ins: Iterable[Sheet], sheet: Sheet) -> None:
    """What the incident did not take over of an alert ends with it."""
    for each in stand_ins if sheet.telling.is_told else ():
        for place in each.telling.open_places:
            each.close(place, "resolved", f"It is the incident {sheet.telling.incident_id} now.")


def by_time(tellings: Iterable[Telling], scene: Scene, at: int) -> Decided:
    """What time brings: releases, late rings, members that joined, notices, escalation."""
    sheets = [Sheet(not_ahead(telling, at, scene.settings), at) for telling in tellings]
    for sheet in sheets:
        if sheet.telling.is_bad:
            _advance(sheet, scene)
    return decided(sheets)


def released(tellings: Iterable[Telling], scene: Scene, at: int) -> Decided:
    """By Alertmanager's call, which names these incidents."""
    sheets = [Sheet(telling, at) for telling in tellings]
    for sheet in sheets:
        sheet.note(is_released=True)
        if sheet.telling.is_bad and not sheet.telling.is_told:
            begin(sheet, scene)
            downstream_notices.give(sheet)
    return decided(sheets)


def decided(sheets: Iterable[Sheet]) -> Decided:
    """All of it together."""
    every = tuple(sheets)
    return Decided(
        tuple(letter for sheet in every for letter in sheet.letters),
        tuple(sheet.telling for sheet in every),
        tuple(each for sheet in every for each in sheet.escalated),
        tuple(gap for sheet in every for gap in sheet.gaps),
        tuple(channel for sheet in every for channel in sheet.held),
    )


def _advance(sheet: Sheet, scene: Scene) -> None:
    own = sheet.telling
    if not own.is_told:
        begin(sheet, scene)
    if own.ring_at is not None and own.ring_at <= sheet.at:
        ring_late(sheet, scene)
    escalate_due(sheet, scene)
    if own.is_stale and sheet.at - (own.said_at or 0) >= JOINED_SECONDS * MICROS:
        sheet.say("changed", "The affected datasets have changed.")
    downstream_notices.give(sheet)


def _news(events: Iterable[Event]) -> dict[str, tuple[Event, ...]]:
    found: dict[str, tuple[Event, ...]] = {}
    for event in events:
        found[event.incident_id] = (*found.get(event.incident_id, ()), event)
    return found


def _with_outages(scene: Scene, sheets: Iterable[Sheet]) -> Scene:
    outages = set(scene.outages)
    for sheet in sheets:
        own = sheet.telling
        (outages.add if is_outage(own) else outages.discard)(own.incident_id)
    return msgspec.structs.replace(scene, outages=frozenset(outages))
