"""Slack message, compared exactly, and its limits for any data."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.slack import blocks as slack_blocks
from alerts.notify.channels.slack.blocks import build_blocks, notification_text, thread_reply
from alerts.notify.message import Impacted, MessageLinks, MessageRoot
from alerts.notify.sentences import context_lines
from tests.alerts.notify.messages import full_message, message
from tests.alerts.notify.test_formatting import ANY_TEXT
from tests.fakes.slack import MENTION, fits, texts_of

GOLDEN = Path(__file__).parent / "golden_slack.json"


def _actions(kind: str) -> list[str]:
    blocks = [each for each in build_blocks(message(2, kind)) if each["type"] == "actions"]
    return [button["action_id"] for block in blocks for button in block["elements"]]


def test_message_has_all_parts():
    """Show the fault, its times, the root, affected datasets, the first difference and links."""
    shown = {"text": notification_text(full_message()), "blocks": build_blocks(full_message())}

    assert shown == json.loads(GOLDEN.read_text())


def test_buttons_are_shown_while_they_have_an_effect():
    """Carry the incident's id; leave out Acknowledge once it is acknowledged."""
    everything = ["lineward_acknowledge", "lineward_suppress", "lineward_false_alarm"]

    assert _actions("opened") == everything
    assert _actions("acknowledged") == everything[1:]
    assert [_actions(kind) for kind in ("resolved", "notice", "handed_over", "test")] == [[]] * 4
    acknowledge, suppress, false_alarm = build_blocks(message())[-1]["elements"]
    assert (acknowledge["value"], false_alarm["value"]) == ("inc-1", "inc-1")
    assert [each["value"] for each in suppress["options"]] == [
        *("1h inc-1", "4h inc-1", "tomorrow inc-1"),
    ]


def test_id_too_long_for_a_menu_has_no_menu():
    """Leave it out: Slack rejects a message with an option value beyond 150 characters."""
    sent = message(incident_id="x" * 200)
    elements = build_blocks(sent)[-1]["elements"]

    assert [each["action_id"] for each in elements] == [
        *("lineward_acknowledge", "lineward_false_alarm"),
    ]


@pytest.mark.parametrize(
    ("kind", "is_answerable", "line"),
    [
        ("opened", True, "Incident inc-1"),
        ("notice", True, "Incident inc-1"),
        ("opened", False, "Alert inc-1"),
        ("resolved", False, "Alert inc-1"),
        ("notice", False, "Message inc-1"),
    ],
)
def test_only_an_id_that_commands_take_is_called_an_incident(kind, is_answerable, line):
    """Name the id by what it is: `lineward ack` rejects the id of an alert."""
    sent = message(kind=kind, is_answerable=is_answerable)

    assert context_lines(sent)[0] == line


@pytest.mark.parametrize(
    ("root", "shown"),
    [
        (MessageRoot("service", "pipeline", "lineward"), "Lineward's role pipeline"),
        (MessageRoot("service", "events", "lineward"), "Lineward's events set aside"),
        (
            MessageRoot("service", "unauthorized_access", "lineward"),
            "Lineward's API: unauthorized access",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_part_of_lineward_is_named_once(root, shown):
    """Repeat no word in the header and in the root."""
    header, _, fields, *_ = build_blocks(message(kind="opened", severity="page", root=root))

    assert header["text"]["text"] == f"Page: {shown}"
    assert fields["fields"][0]["text"] == f"Root: {shown}"


def test_alert_without_an_incident_has_no_buttons():
    """Leave them out: an alert of Prometheus cannot be acknowledged here."""
    blocks = build_blocks(message(kind="opened", is_answerable=False))

    assert [each for each in blocks if each["type"] == "actions"] == []


def test_listed_lines_stay_on_one_line_each():
    """Keep line breaks of data from making lines."""
    blocks = build_blocks(message(kind="notice", lines=("a <!channel>", "b\nc")))

    (listed,) = [each["text"] for each in blocks if "a " in str(each.get("text", {}).get("text"))]
    assert (listed["type"], listed["text"]) == ("plain_text", "a &lt;!channel&gt;\nb c")


def test_message_without_details_has_no_empty_blocks():
    """Leave out the list, the links and the difference."""
    assert [each["type"] for each in build_blocks(message(kind="notice"))] == [
        "header",
        "section",
        "section",
        "context",
    ]


@given(ANY_TEXT, st.booleans())
def test_any_data_notifies_nobody_and_fits(text, is_long):
    """Fill every field, also with ten thousand characters: nothing is unescaped."""
    text = text * 200 if is_long else text
    sent = message(
        what=text,
        root=MessageRoot(text, text, text),
        owner=text,
        impacted=(Impacted(text, text, text, text, 0),) * 10,
        impacted_count=10_000,
        tiers=((text, 1), (text, 2)),
        first_difference=text,
        correlation_id=text,
        note=text,
        links=MessageLinks(explorer=text, runbook=f"https://a.test/{text}"),
    )
    blocks = build_blocks(sent)
    texts = [notification_text(sent), thread_reply(sent), *texts_of(blocks)]

    assert fits(blocks)
    assert not [shown for shown in texts if MENTION.search(shown)]
    assert all(len(shown) <= slack_blocks.MAX_TEXT for shown in texts)


def test_without_escaping_a_name_notifies_a_channel(notifier, slack, monkeypatch):
    """Run the mutant: cut names without escaping them; the fake notifies as Slack would."""
    sent = message(root=MessageRoot("job", "<!channel>", "shop"))
    notifier.notify(sent, "slack:C0000001")
    notifier.run()
    assert slack.mentions == []

    monkeypatch.setattr(slack_blocks, "escape_slack", lambda text, limit: text[:limit])
    notifier.notify(msgspec.structs.replace(sent, revision=2), "slack:C0000001")
    notifier.run()
    assert slack.mentions


def test_list_counts_what_it_leaves_out():
    """List ten of 400."""
    [listed] = [
        text for text in texts_of(build_blocks(full_message())) if "datasets affected" in text
    ]

    assert listed.splitlines()[0] == "400 datasets affected: 2 critical, 98 important, 300 optional"
    assert listed.splitlines()[-1] == "and 398 more: see the full list"


def test_the_menu_names_the_zone_of_the_morning():
    """Say the zone of the policy: the reader may be in another one."""
    _, suppress, _ = build_blocks(message(time_zone="Europe/Berlin"))[-1]["elements"]

    labels = [each["text"]["text"] for each in suppress["options"]]
    assert labels == ["for 1 hour", "for 4 hours", "until the next 8:00 (Europe/Berlin)"]
