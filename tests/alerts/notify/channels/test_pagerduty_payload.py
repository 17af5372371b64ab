"""PagerDuty event, compared exactly, and its limits for any data."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.pagerduty.payload import MAX_EVENT_BYTES, MAX_SUMMARY, build_event
from alerts.notify.message import Impacted, MessageRoot
from tests.alerts.notify.conftest import PAGER
from tests.alerts.notify.messages import full_message, message
from tests.alerts.notify.test_formatting import ANY_TEXT

GOLDEN = Path(__file__).parent / "golden_pagerduty.json"


def test_event_has_all_parts_of_a_message(notifier, pagerduty):
    """Compare with the golden file."""
    notifier.notify(full_message(), PAGER)
    notifier.run()

    assert pagerduty.events == [json.loads(GOLDEN.read_text())]


def test_markup_is_sent_as_it_is():
    """Leave entities out: PagerDuty has no mark-up."""
    event = build_event(message(what="<!channel> & *all*"))

    assert event["payload"]["summary"] == "Page: <!channel> & *all*"


@given(ANY_TEXT, st.booleans())
def test_any_data_fits_into_an_event(text, is_long):
    """Fill every field, also with characters that JSON writes in twelve bytes."""
    text = (text + "\U0001f525") * 300 if is_long else text
    event = build_event(
        message(
            what=text,
            root=MessageRoot(text, text, text),
            owner=text,
            impacted=(Impacted(text, text, text, text, 0),) * 10,
            impacted_count=10_000,
            tiers=((text, 1),),
            first_difference=text,
            correlation_id=text,
            note=text,
        )
    )

    assert len(json.dumps(event)) < MAX_EVENT_BYTES - 1_000
    assert 0 < len(event["payload"]["summary"]) <= MAX_SUMMARY
    assert event["payload"]["source"]


def test_page_is_critical_and_ticket_a_warning():
    """Map the severity."""
    severities = [
        build_event(message(severity=each))["payload"]["severity"] for each in ("page", "ticket")
    ]

    assert severities == ["critical", "warning"]
