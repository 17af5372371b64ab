"""Properties of each type of channel in the registry."""

import subprocess
import sys

import pytest

from alerts.notify.channels.registry import CHANNEL_TYPES, can_page, contact_channels, find_type
from alerts.notify.coalescing import rule_of
from lineage.policy.model import EscalationStep, Owner

_PROVIDERS = ("slack_sdk", "pagerduty", "httpx", "apprise")


@pytest.mark.parametrize("contact", [Owner("shop", "C1", "k"), EscalationStep(5, None, "C1", "k")])
def test_contact_has_its_channels_in_the_order_of_types(contact):
    """Name Slack before PagerDuty, for owners and for steps of an escalation alike."""
    assert contact_channels(contact) == ("slack:C1", "pagerduty:k")


def test_only_pagerduty_pages():
    """Ask by the name of a channel; an unknown type pages nobody."""
    assert [each.kind for each in CHANNEL_TYPES if each.can_page] == ["pagerduty"]
    assert can_page("pagerduty:k")
    assert not can_page("slack:pagerduty:")
    assert not can_page("pigeon:1")
    assert find_type("pigeon:1") is None


def test_messages_sent_follow_from_abilities_of_the_type():
    """Send the newest state where messages are edited, pages by their lifecycle, else all."""
    rules = {name: rule_of(f"{name}:x").__name__ for name in ("slack", "pagerduty", "webhook", "x")}

    assert rules == {
        "slack": "_latest",
        "pagerduty": "_page_lifecycle",
        "webhook": "_first",
        "x": "_first",
    }


def test_registry_imports_no_library_of_a_provider():
    """Import these when a channel first sends: commands that only ask start without them."""
    loaded = f"[name for name in {_PROVIDERS!r} if name in sys.modules]"
    code = f"import sys, alerts.notify.recipients; print({loaded})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
