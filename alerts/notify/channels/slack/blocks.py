"""A message as Slack shows it: Block Kit.

Data stands in `plain_text` alone, where no mark-up counts, and with `& < >` as entities besides.
Our own words and links are the only mrkdwn.
"""

from typing import Any

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ContextBlock,
    HeaderBlock,
    InteractiveElement,
    MarkdownTextObject,
    Option,
    PlainTextObject,
    SectionBlock,
    StaticSelectElement,
)

from alerts.incidents.times import BEGAN
from alerts.notify.formatting import CUT, escape_slack, format_duration, format_time, quote_link
from alerts.notify.message import Impacted, Message

ACKNOWLEDGE = "lineward_acknowledge"
SUPPRESS = "lineward_suppress"
FALSE_ALARM = "lineward_false_alarm"

# For how long Suppress hides: the first word of an option's value, before the incident's id.
ONE_HOUR, FOUR_HOURS, TOMORROW = "1h", "4h", "tomorrow"
CHOICES = {ONE_HOUR: "for 1 hour", FOUR_HOURS: "for 4 hours", TOMORROW: "until tomorrow, 8:00"}

FLAPPING = "opened 3 times or more in a short time"
BRIDGED = "what lies between cannot be observed"

MAX_TEXT = 3_000
_MAX_HEADER = 150
_MAX_FIELD = 2_000
_MAX_FIELDS = 10  # of a section
_MAX_NAME = 120
_MAX_MENU_ID = 120  # the value of an option: 150 characters
_ANSWERABLE = frozenset({"opened", "changed", "acknowledged"})
_TITLES = {
    "acknowledged": "Acknowledged",
    "resolved": "Resolved",
    "notice": "Notice",
    "handed_over": "Handed over",
    "test": "Test",
}


def build_blocks(message: Message) -> list[dict[str, Any]]:
    """The whole message, in its present state."""
    blocks: list[Block | None] = [
        HeaderBlock(text=_text(headline(message), _MAX_HEADER)),
        SectionBlock(text=_text(message.what, MAX_TEXT)),
        SectionBlock(fields=[_text(field, _MAX_FIELD) for field in _fields(message)]),
        _impact(message),
        _lines(message),
        _section("Error: ", message.error),
        _section("First difference: ", message.first_difference),
        _section("", message.note),
        _links(message),
        _context(message),
        _buttons(message),
    ]
    return [block.to_dict() for block in blocks if block is not None]


def thread_reply(message: Message) -> str:
    """What the thread is told when the incident changes."""
    said = message.note or message.what
    if message.kind == "resolved":
        said = f"after {format_duration(message.at - message.since)}. {said}"
    return escape_slack(f"{_TITLES.get(message.kind, 'Changed')}: {said}", MAX_TEXT)


def notification_text(message: Message) -> str:
    """The one line of a notification on a phone."""
    return escape_slack(f"{headline(message)}: {message.what}", MAX_TEXT)


def headline(message: Message) -> str:
    """How grave it is, and where it began."""
    title = _TITLES.get(message.kind, message.severity.capitalize())
    return f"{title}: {message.root.kind} {message.root.name}"


def dataset_line(dataset: Impacted) -> str:
    """One dataset, not escaped."""
    limit = "" if dataset.limit_at is None else f", limit {format_time(dataset.limit_at)}"
    name = f"{dataset.namespace} {dataset.name}"
    name = name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + CUT
    return f"{dataset.tier}: {name} ({dataset.state}{limit})"


def impact_line(message: Message) -> str:
    """How many are hurt, by tier."""
    tiers = ", ".join(f"{count} {tier}" for tier, count in message.tiers)
    datasets = "dataset" if message.impacted_count == 1 else "datasets"
    said = f"{message.impacted_count} {datasets} hurt"
    return f"{said}: {tiers}" if tiers else said


def format_times(message: Message) -> dict[str, str]:
    """Return the times that a message names, the earliest first."""
    named = {each.name: format_time(each.at) for each in message.times}
    return named or {BEGAN: format_time(message.since)}


def _text(text: str, limit: int) -> PlainTextObject:
    return PlainTextObject(text=escape_slack(text, limit) or "-", emoji=False)


def _fields(message: Message) -> list[str]:
    fields = [
        f"Root: {message.root.kind} {message.root.namespace} {message.root.name}",
        *(f"{name.capitalize()}: {at}" for name, at in format_times(message).items()),
        f"Owner: {message.owner or 'nobody'}",
    ]
    if message.kind == "resolved" and not message.times:
        fields.append(f"Resolved: {format_time(message.at)}")
    return fields[:_MAX_FIELDS]


def _impact(message: Message) -> Block | None:
    if not message.impacted_count:
        return None
    lines = [impact_line(message), *map(dataset_line, message.impacted)]
    if (more := message.impacted_count - len(message.impacted)) > 0:
        lines.append(f"and {more} more: see the full list")
    # Twelve lines of 240 characters at most: within the 3,000 of a text.
    text = "\n".join(escape_slack(line, 240) for line in lines)
    return SectionBlock(text=PlainTextObject(text=text, emoji=False))


def _lines(message: Message) -> Block | None:
    if not message.lines:
        return None
    text = "\n".join(escape_slack(line, 240) for line in message.lines)
    return SectionBlock(text=PlainTextObject(text=text, emoji=False))


def _section(label: str, text: str | None) -> Block | None:
    return SectionBlock(text=_text(label + text, MAX_TEXT)) if text else None


def _links(message: Message) -> Block | None:
    shown = [_link(label, url) for label, url in message.links.labelled.items()]
    text = " · ".join(filter(None, shown))
    return SectionBlock(text=MarkdownTextObject(text=text, verbatim=True)) if text else None


def _link(label: str, url: str | None) -> str | None:
    link = quote_link(url)
    # One too long is left out whole: half of it would lead elsewhere.
    if link is None or len(link) > MAX_TEXT // 5:
        return None
    return f"<{link.replace('&', '&amp;')}|{label}>"


def _context(message: Message) -> Block | None:
    said = [f"Incident {message.incident_id}"]
    said += [f"Correlation {message.correlation_id}"] if message.correlation_id else []
    said += [f"Flapping: {FLAPPING}"] if message.is_flapping else []
    said += [f"Bridged: {BRIDGED}"] if message.is_bridged else []
    return ContextBlock(elements=[_text(text, _MAX_FIELD) for text in said])


def _buttons(message: Message) -> Block | None:
    if message.kind not in _ANSWERABLE or not message.is_answerable:
        return None
    pressed = [_button(FALSE_ALARM, "False alarm", message)]
    if len(message.incident_id) <= _MAX_MENU_ID:
        pressed.insert(0, _suppress(message))
    if message.kind != "acknowledged":
        pressed.insert(0, _button(ACKNOWLEDGE, "Acknowledge", message))
    return ActionsBlock(elements=pressed)


def _button(action: str, label: str, message: Message) -> InteractiveElement:
    return ButtonElement(
        text=PlainTextObject(text=label), action_id=action, value=message.incident_id
    )


def _suppress(message: Message) -> InteractiveElement:
    options = [
        Option(text=PlainTextObject(text=label), value=f"{choice} {message.incident_id}")
        for choice, label in CHOICES.items()
    ]
    shown = PlainTextObject(text="Suppress")
    return StaticSelectElement(placeholder=shown, action_id=SUPPRESS, options=options)
