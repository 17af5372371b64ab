"""Steps of an escalation: taken once each, while nobody has acknowledged a page."""

from typing import Final

from alerts.notify.context import Scene, escalation_at
from alerts.notify.first_notification import tell
from alerts.notify.notification_plan import Escalated, Sheet
from alerts.notify.recipients import NO_WAY, PAGERDUTY, ways_of_step
from lineage.policy.model import EscalationStep

_PLATFORM: Final = -1  # the position of what no policy needs to say


def escalate_due(sheet: Sheet, scene: Scene) -> None:
    """Every step whose time has come, in their order."""
    for number, step in scene.steps(sheet.telling):
        due = escalation_at(sheet.telling, step)
        if due is not None and due <= sheet.at:
            _escalate(
                sheet, scene, (number, step), f"not acknowledged for {step.after_minutes} min"
            )


def escalate_now(sheet: Sheet, scene: Scene, by: str) -> tuple[str, ...]:
    """The next step at once, as a person asks; after the last the platform's owner.

    Returns:
        Its channels; none where nothing is left, or nobody was told of it yet.
    """
    if not sheet.telling.is_told or not sheet.telling.is_bad:
        return ()
    left = sorted(scene.steps(sheet.telling), key=lambda each: each[1].after_minutes)
    last = (_PLATFORM, EscalationStep(0, owner=scene.settings.platform))
    own = sheet.telling.addressee
    if own != scene.settings.platform and (own, _PLATFORM) not in sheet.telling.steps:
        left.append(last)
    return _escalate(sheet, scene, left[0], f"asked for by {by}") if left else ()


def _escalate(
    sheet: Sheet, scene: Scene, numbered: tuple[int, EscalationStep], why: str
) -> tuple[str, ...]:
    number, step = numbered
    own = sheet.telling
    channels = ways_of_step(scene.policy, scene.settings, step)
    if not channels:
        sheet.gaps.append(NO_WAY)
    whom = step.owner or ", ".join(channels)
    note = f"Escalated from {own.addressee}: {why}."
    is_alone = all(channel.startswith(PAGERDUTY) for channel in channels)
    for channel in channels:
        tell(sheet, scene, channel, "opened", note, role="step", is_alone=is_alone)
    sheet.say("changed", f"Escalated to {whom}: {why}.")
    sheet.note(steps=(*own.steps, (own.addressee, number)))
    sheet.escalated.append(Escalated(own.incident_id, own.addressee, number, channels))
    return channels
