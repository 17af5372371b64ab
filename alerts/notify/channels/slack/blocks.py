"""Message as Block Kit of Slack.

Names and errors stand in `plain_text`, where mark-up means nothing, with `& < >` as entities. Only
our own words and links are mrkdwn.
"""

from collections.abc import Sequence
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
    TextObject,
)

from alerts.notify import sentences
from alerts.notify.formatting import escape_slack, quote_link
from alerts.notify.message import Message

ACKNOWLEDGE = "lineward_acknowledge"
SUPPRESS = "lineward_suppress"
FALSE_ALARM = "lineward_false_alarm"

# For how long Suppress hides: the first word of an option's value, before the incident's id.
ONE_HOUR, FOUR_HOURS, MORNING = "1h", "4h", "tomorrow"  # in messages that were sent
CHOICES = frozenset({ONE_HOUR, FOUR_HOURS, MORNING})

MAX_TEXT = 3_000
_MAX_HEADER = 150
_MAX_FIELD = 2_000
_MAX_FIELDS = 10  # of a section
_MAX_LABEL = 75  # of an option
_MAX_MENU_ID = 120  # the value of an option: 150 characters
_ANSWERABLE = frozenset({"opened", "changed", "acknowledged"})


def build_blocks(message: Message) -> list[dict[str, Any]]:
    """Return the whole message in its present state."""
    blocks: list[Block | None] = [
        HeaderBlock(text=_text(sentences.headline(message), _MAX_HEADER)),
        SectionBlock(text=_text(message.what, MAX_TEXT)),
        SectionBlock(fields=_fields(message)),
        _lines(sentences.impact_lines(message)),
        _lines(message.lines),
        _section(sentences.ERROR, message.error),
        _section(sentences.FIRST_DIFFERENCE, message.first_difference),
        _section("", message.note),
        _links(message),
        _context(message),
        _buttons(message),
    ]
    return [block.to_dict() for block in blocks if block is not None]


def thread_reply(message: Message) -> str:
    """Return what the thread of the incident shows for a change."""
    return escape_slack(sentences.change_line(message), MAX_TEXT)


def notification_text(message: Message) -> str:
    """Return the one line that a phone shows."""
    return escape_slack(sentences.summary_line(message), MAX_TEXT)


def _text(text: str, limit: int) -> PlainTextObject:
    return PlainTextObject(text=escape_slack(text, limit) or "-", emoji=False)


def _fields(message: Message) -> list[TextObject]:
    lines = sentences.field_lines(message)[:_MAX_FIELDS]
    return [_text(line, _MAX_FIELD) for line in lines]


def _lines(lines: Sequence[str]) -> Block | None:
    # Twelve lines of 240 characters at most: within the 3,000 of a text.
    text = "\n".join(escape_slack(line, 240) for line in lines)
    return SectionBlock(text=PlainTextObject(text=text, emoji=False)) if lines else None


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
    lines = sentences.context_lines(message)
    return ContextBlock(elements=[_text(text, _MAX_FIELD) for text in lines])


def _buttons(message: Message) -> Block | None:
    if message.kind not in _ANSWERABLE or not message.is_answerable:
        return None
    pressed = [_button(FALSE_ALARM, sentences.FALSE_ALARM_LABEL, message)]
    if len(message.incident_id) <= _MAX_MENU_ID:
        pressed.insert(0, _suppress(message))
    if message.kind != "acknowledged":
        pressed.insert(0, _button(ACKNOWLEDGE, sentences.ACKNOWLEDGE_LABEL, message))
    return ActionsBlock(elements=pressed)


def _button(action: str, label: str, message: Message) -> InteractiveElement:
    return ButtonElement(
        text=PlainTextObject(text=label), action_id=action, value=message.incident_id
    )


def _suppress(message: Message) -> InteractiveElement:
    labels = {
        ONE_HOUR: sentences.FOR_ONE_HOUR,
        FOUR_HOURS: sentences.FOR_FOUR_HOURS,
        MORNING: sentences.until_morning(message.time_zone),
    }
    options = [
        Option(text=_plain(text), value=f"{choice} {message.incident_id}")
        for choice, text in labels.items()
    ]
    shown = PlainTextObject(text=sentences.SUPPRESS_LABEL)
    return StaticSelectElement(placeholder=shown, action_id=SUPPRESS, options=options)


def _plain(label: str) -> PlainTextObject:
    return PlainTextObject(text=label[:_MAX_LABEL])
