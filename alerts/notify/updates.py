"""What a step of an incident's life makes people hear."""

from collections.abc import Sequence
from typing import Final

import msgspec

from alerts.incidents.incident import Incident
from alerts.incidents.steps import Event, What
from alerts.notify.change_text import QUIET, note_of
from alerts.notify.context import JOINED_SECONDS, Scene
from alerts.notify.first_notification import begin, open_all
from alerts.notify.notification_plan import Sheet
from alerts.notify.notification_state import MICROS, Telling

_OF_MEMBERS: Final[frozenset[What]] = frozenset({"joined", "left"})


def follow(
    sheet: Sheet, incident: Incident, news: Sequence[Event], scene: Scene, taken: Sequence[Sheet]
) -> None:
    """One incident's step.

    Args:
        sheet: with its new state already noted.
        incident: as it is now.
        news: its events.
        scene: what else counts.
        taken: incidents that it took over in this step.
    """
    if incident.state == "resolved":
        _end(sheet, incident, news)
    elif incident.state == "suppressed":
        _hush(sheet, news)
    elif sheet.telling.is_told:
        _adopt(sheet, scene, taken)
        _go_on(sheet, news, scene, is_told_already=any(other.telling.is_told for other in taken))
    else:
        _adopt(sheet, scene, taken)
        begin(sheet, scene)


def _end(sheet: Sheet, incident: Incident, news: Sequence[Event]) -> None:
    """Whoever was told hears the end; whoever was not, hears nothing."""
    into = f"Merged into {incident.merged_into}: " if incident.merged_into else ""
    for place in sheet.telling.open_places:
        sheet.close(place, "resolved", into + note_of(news))
    over = {"ended_at": sheet.at, "waits_until": None, "ring_at": None, "told_at": None}
    sheet.note(**over, is_stale=False, is_released=False)


def _hush(sheet: Sheet, news: Sequence[Event]) -> None:
    """Quiet: PagerDuty goes on calling until somebody acknowledges, so that it is told so."""
    sheet.note(ring_at=None, waits_until=None)
    if not any(event.what == "suppressed" for event in news):
        return
    for place in sheet.telling.open_places:
        sheet.write(place, "acknowledged" if place.rings else "changed", note_of(news))
    sheet.note(said_at=sheet.at, is_stale=False)


def _go_on(sheet: Sheet, news: Sequence[Event], scene: Scene, *, is_told_already: bool) -> None:
    whats = {event.what for event in news}
    if whats and whats <= QUIET:
        return
    if "handed_over" in whats or ("unsuppressed" in whats and _is_of_another(sheet, scene)):
        _hand_over(sheet, news, scene, is_told_already=is_told_already)
    elif whats & {"reopened", "escalated", "unsuppressed"}:
        open_all(sheet, scene, "changed", note_of(news))
        sheet.say("changed", note_of(news))
    elif "acknowledged" in whats and sheet.telling.state == "acknowledged":
        sheet.note(ring_at=None)
        sheet.say("acknowledged", note_of(news))
    elif whats <= _OF_MEMBERS and _was_just_said(sheet.telling, sheet.at):
        sheet.note(is_stale=True)
    else:
        sheet.say("changed", note_of(news))


def _is_of_another(sheet: Sheet, scene: Scene) -> bool:
    """It went to another owner while nobody was to hear of it."""
    own = sheet.telling
    return scene.address(own.owner, own.draft.severity).owner != own.addressee


def _was_just_said(telling: Telling, at: int) -> bool:
    return telling.said_at is not None and at - telling.said_at < JOINED_SECONDS * MICROS


def _hand_over(sheet: Sheet, news: Sequence[Event], scene: Scene, *, is_told_already: bool) -> None:
    """The first owner's alert ends with a word on why, the new one's begins.

    Where the new one was rung by an incident that is part of this one now, that alert goes on.
    """
    own = sheet.telling
    address = scene.address(own.owner, own.draft.severity)
    for place in own.open_places:
        # The webhook for tickets is everybody's.
        if place.channel not in {*address.channels, scene.settings.tickets}:
            note = f"Handed over to {address.owner}: {note_of(news)}"
            sheet.close(place, "handed_over", note)
    is_known = is_told_already and any(event.is_told_already for event in news)
    open_all(sheet, scene, "changed" if is_known else "opened", note_of(news))
    sheet.say("changed", note_of(news))


def _adopt(sheet: Sheet, scene: Scene, taken: Sequence[Sheet]) -> None:
    """What rings its owner already for what was taken over stands for this one, by its own id."""
    address = scene.address(sheet.telling.owner, sheet.telling.draft.severity)
    for other in taken:
        if other.telling.is_told:
            sheet.note(
                is_released=True, revision=max(sheet.telling.revision, other.telling.revision)
            )
        for place in other.telling.places:
            here = sheet.telling.place(place.channel)
            is_ours = place.channel in address.channels and not (here and here.is_open)
            if place.rings and place.rung and is_ours:
                sheet.keep(msgspec.structs.replace(place, role="owner"))
                other.keep(msgspec.structs.replace(place, is_open=False))
