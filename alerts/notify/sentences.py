"""Sentences of notifications. Reasons of events and notes of people are data within them.

Names are not escaped here: each channel escapes a text as its provider needs it.
"""

from collections.abc import Iterable
from typing import Final

from alerts.incidents.steps import EventKind, IncidentEvent
from alerts.incidents.times import BEGAN_AT
from alerts.notify.formatting import format_duration, format_time
from alerts.notify.message import OWN_PART, Impacted, Message, MessageKind, MessageRoot
from lineage.names.keys import CUT
from lineage.names.names import join_parts
from lineage.states import UNAUTHORIZED_ACCESS

_MAX_NAME: Final = 120

FLAPPING: Final = "opened 3 times or more in a short time"
BRIDGED: Final = "the path from the root passes datasets that Lineward cannot judge"
REFIRED: Final = "The alert fires again. Alertmanager sent no end in between."
ALERT_ENDED: Final = "The alert no longer fires."
MEMBERS_CHANGED: Final = "The bad datasets have changed since the last message."
NOT_CONFIGURED: Final = "not_configured"  # reason of a failed attempt
UNOWNED: Final = "The root has no owner."
DELIVERY_WORKS: Final = "accepts messages again"

# Labels of the parts of a message, and of the buttons under it.
ROOT, OWNER, RESOLVED = "Root", "Owner", "Resolved"
ERROR, FIRST_DIFFERENCE = "Error: ", "First difference: "
ACKNOWLEDGE_LABEL, SUPPRESS_LABEL, FALSE_ALARM_LABEL = "Acknowledge", "Suppress", "False alarm"
FOR_ONE_HOUR, FOR_FOUR_HOURS = "for 1 hour", "for 4 hours"

_TITLES: Final[dict[MessageKind, str]] = {
    "acknowledged": "Acknowledged",
    "resolved": "Resolved",
    "notice": "Notice",
    "handed_over": "Handed over",
    "test": "Test",
}
# Roots of Lineward that are no roles, by the names that `service_fault` gives them.
_OWN_PARTS: Final = {
    "events": "events set aside",
    UNAUTHORIZED_ACCESS.name: "API: unauthorized access",
}
_BY_PERSON: Final[dict[EventKind, str]] = {
    "acknowledged": "Acknowledged",
    "suppressed": "Suppressed",
    "unsuppressed": "No longer suppressed",
    "resolved": "Resolved",
}
_OF_MEMBERS: Final[dict[EventKind, str]] = {
    "joined": "more {} bad",
    "left": "{} no longer bad",
}
# An outage of Lineward freezes all incidents and notifies by itself: a message for each of them,
# and one more when its state is known again, was a flood (104 messages of 52 tickets).
QUIET: Final[frozenset[EventKind]] = frozenset({"frozen", "thawed"})
# Other sentences say it: the incident itself, or what it leads to.
_SILENT: Final = frozenset({"opened", *QUIET})


def until_morning(time_zone: str) -> str:
    """Return the label of a suppression until the morning; it is true whenever it is pressed."""
    return f"until the next 8:00 ({time_zone})"


def headline(message: Message) -> str:
    """Return the severity or the change, and the root."""
    root = message.root
    return f"{_heading(message)}: {_own_part(root) or f'{root.kind} {root.name}'}"


def _own_part(root: MessageRoot) -> str:
    """Return a part of Lineward that fails; empty: the root is another."""
    if root.kind != OWN_PART:
        return ""
    return f"Lineward's {_OWN_PARTS.get(root.name, f'role {root.name}')}"


def summary_line(message: Message) -> str:
    """Return the notification of a phone."""
    return f"{_heading(message)}: {message.what}"


def _heading(message: Message) -> str:
    return _TITLES.get(message.kind, message.severity.capitalize())


def change_line(message: Message) -> str:
    """Return what the thread of an incident shows for one change."""
    text = message.note or message.what
    if message.kind == "resolved":
        text = f"after {format_duration(message.at - message.since)}. {text}"
    return f"{_TITLES.get(message.kind, 'Changed')}: {text}"


def dataset_line(dataset: Impacted) -> str:
    """Return one affected dataset, as commands take it, with its state and deadline."""
    deadline = "" if dataset.limit_at is None else f", deadline {format_time(dataset.limit_at)}"
    name = join_parts(dataset.namespace, dataset.name)
    name = name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + CUT
    return f"{dataset.tier}: {name} ({dataset.state}{deadline})"


def impact_line(message: Message) -> str:
    """Return how many datasets are affected, bad or not yet, by tier."""
    tiers = ", ".join(f"{count} {tier}" for tier, count in message.tiers)
    text = f"{_count(message.impacted_count, 'dataset')} affected"
    return f"{text}: {tiers}" if tiers else text


def impact_lines(message: Message) -> list[str]:
    """Return the impact and the datasets that the message lists; none: nothing is affected."""
    if not message.impacted_count:
        return []
    lines = [impact_line(message), *map(dataset_line, message.impacted)]
    more = message.impacted_count - len(message.impacted)
    return [*lines, f"{and_more(more)}: see the full list"] if more > 0 else lines


def format_times(message: Message) -> dict[str, str]:
    """Return the timestamps that a message names, the earliest first."""
    named = {each.name: format_time(each.at) for each in message.times}
    return named or {BEGAN_AT: format_time(message.since)}


def field_lines(message: Message) -> list[str]:
    """Return the root, the timestamps and the owner."""
    root = message.root
    name = _own_part(root) or " ".join(filter(None, (root.kind, root.namespace, root.name)))
    fields = [
        *([f"{ROOT}: {name}"] if message.has_root else []),
        *(f"{label.capitalize()}: {at}" for label, at in format_times(message).items()),
        f"{OWNER}: {message.owner or '-'}",
    ]
    if message.kind == "resolved" and not message.times:
        fields.append(f"{RESOLVED}: {format_time(message.at)}")
    return fields


def context_lines(message: Message) -> list[str]:
    """Return the ids and the limits of what is known."""
    lines = [f"{_subject(message)} {message.incident_id}"]
    if message.correlation_id not in {"", message.incident_id}:
        lines.append(f"Correlation {message.correlation_id}")
    lines += [f"Flapping: {FLAPPING}"] if message.is_flapping else []
    return lines + ([f"Root less certain: {BRIDGED}"] if message.is_bridged else [])


def _subject(message: Message) -> str:
    """Return the word before an id: commands take the id of an incident only."""
    if message.is_answerable:
        return "Incident"
    return "Message" if message.kind == "notice" else "Alert"


def describe_step(events: Iterable[IncidentEvent]) -> str:
    """Return the changes of a step, in their order."""
    return " ".join(_describe_event(event) for event in events if event.what not in _SILENT)


def _describe_event(event: IncidentEvent) -> str:
    if (what := _OF_MEMBERS.get(event.what)) is not None:
        count = len(event.members)
        return f"{count} {what.format(_noun(count, 'dataset'))}."
    reason = event.reason.rstrip(".")
    if event.by is not None:
        return f"{_BY_PERSON.get(event.what, 'Changed')} by {event.by}: {reason}."
    return f"{reason[:1].upper()}{reason[1:]}."


def join_sentences(*sentences: str) -> str:
    """Return the sentences that are not empty, one after the other."""
    return " ".join(filter(None, sentences))


def unknown_fault(kind: str) -> str:
    """Return the title of a fault of which only the kind is known."""
    return f"Fault of kind {kind}"


def merged(into: str, changes: str) -> str:
    """Return why an incident ends that is part of another."""
    return f"Merged into {into}: {changes}"


def handed_over(owner: str, changes: str) -> str:
    """Return why the alert of the first owner ends."""
    return f"Handed over to {owner}: {changes}"


def is_incident(incident_id: str) -> str:
    """Return why the messages of an alert end: an incident opened for it."""
    return f"Incident {incident_id} covers this alert now."


def bad_again(minutes: int) -> str:
    """Return why a person is paged again."""
    return f"Bad again for {minutes} min and not acknowledged."


def not_acknowledged(minutes: int) -> str:
    """Return why a step of an escalation is due."""
    return f"not acknowledged for {minutes} min"


def requested_by(person: str) -> str:
    """Return why a step of an escalation is taken early."""
    return f"requested by {person}"


def escalated_from(owner: str, reason: str) -> str:
    """Return the note to the owner that an incident is escalated to."""
    return f"Escalated from {owner}: {reason}."


def escalated_to(whom: str, reason: str) -> str:
    """Return the note to everybody who was notified before."""
    return f"Escalated to {whom}: {reason}."


def escalation_failed(whom: str, reason: str) -> str:
    """Return the note to everybody who was notified before, if the next step has no channel."""
    return f"Escalation to {whom} failed, because the policy has no channel: {reason}."


def downstream(owners: Iterable[str], addressee: str, impacted: Iterable[Impacted]) -> str:
    """Return the note to owners of datasets downstream of the root."""
    deadlines = [each.limit_at for each in impacted if each.limit_at is not None]
    first = f"The first deadline is {format_time(min(deadlines))}." if deadlines else ""
    return join_sentences(
        f"Datasets of {', '.join(owners)} are downstream.",
        f"{addressee} was notified to fix the root.",
        first,
    )


def unknown_owner(owner: str) -> str:
    """Return why the platform owner is notified: the policy does not have the root's owner."""
    return f"{UNOWNED} The policy has no owner {owner}."


def unreachable_owner(owner: str, severity: str) -> str:
    """Return why the platform owner is notified: the root's owner has no channel."""
    return f"Owner {owner} has no channel for a {severity}."


def no_platform_owner(reason: str, platform: str) -> str:
    """Return why only the fallback channel is notified."""
    return f"{reason} The policy has no owner {platform} with a channel either."


def open_tickets(count: int) -> str:
    """Return the title of a digest."""
    return f"{_count(count, 'open ticket')}"


def and_more(count: int) -> str:
    """Return the end of a list that is cut."""
    return f"and {count} more"


def more_tickets(count: int) -> str:
    """Return the title of the notice on new tickets that a channel does not get now."""
    return f"{count} more new {_noun(count, 'ticket')}: see the full list"


def ticket_line(name: str, what: str, since: int, state: str) -> str:
    """Return one incident of a list."""
    suffix = "" if state == "open" else f", {state}"
    return f"{name}: {what} ({BEGAN_AT} {format_time(since)}{suffix})"


def gap_line(system: str, count: int, since: int) -> str:
    """Return one source system whose datasets have no producer."""
    have, them = ("has", "it as a source") if count == 1 else ("have", "them as sources")
    began = f"{BEGAN_AT} {format_time(since)}"
    return (
        f"{system}: {_count(count, 'dataset')} {have} no producer ({began})."
        f" If this is expected, declare {them} in the policy."
    )


def window_ended(count: int, still_bad: int) -> str:
    """Return the title of the summary of a planned window."""
    return f"The window has ended. Suppressed: {count}; still bad: {still_bad}"


def ticket_cap(most: int) -> str:
    """Return why a channel does not show all new tickets."""
    return f"A channel gets {most} new tickets an hour. The full list has all of them."


def failure_reason(reason: str, required_settings: Iterable[str]) -> str:
    """Return why a message was not delivered; a missing setting is named.

    Args:
        reason: code of the failed attempt.
        required_settings: environment variables that the channel needs.
    """
    names = " and ".join(required_settings)
    if reason == NOT_CONFIGURED and names:
        return f"the service has no settings for this channel: set {names}"
    return reason


def not_delivered(channel: str, reason: str, note: str) -> str:
    """Return the note of a copy in the fallback channel."""
    return join_sentences(f"Not delivered to {channel}: {reason}.", note)


def delivery_state(subject: str, state: str) -> str:
    """Return the title of an alert on a channel or on a type of channel."""
    return f"Delivery to {subject}: {state}"


def delivery_rejected(reason: str) -> str:
    """Return the state of a channel whose provider rejects messages."""
    return f"messages are rejected ({reason})"


def _count(count: int, noun: str) -> str:
    return f"{count} {_noun(count, noun)}"


def _noun(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
