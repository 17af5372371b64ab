"""What a retry that is expected, or an upstream that is unknown, holds back."""

from functools import partial

import pytest

from tests.alerts.incidents.stories import found

RETRIED = partial(found, "A", awaits_retry=True)
UPSTREAM_UNKNOWN = partial(found, "A", "waiting", unknown="upstream_unknown")


@pytest.mark.parametrize("wait", [RETRIED, UPSTREAM_UNKNOWN], ids=["retry", "upstream"])
def test_an_open_ticket_becomes_a_page_while_it_waits(story, wait):
    """People know the ticket: only notifications of what nobody knows are held back."""
    kind = wait().root.kind
    story.opened(found("A", kind, owner="red"))

    assert story.at(60, wait(owner="red")) == []
    assert story.at(70, wait(owner="blue")) == ["handed_over red>blue"]
    assert story.at(80, wait(owner="blue", level="page")) == ["escalated"]
    assert story.one.severity.level == "page"


def test_an_open_ticket_thaws_while_it_waits(story):
    """The backlog has landed; the failure is older than a day."""
    story.opened(found("A"))
    story.at(40, is_behind=True)

    assert story.at(50, RETRIED()) == ["thawed"]
    assert not story.one.is_frozen


def test_a_pending_incident_waits_for_a_retry(story):
    """Neither a page nor its age opens it."""
    story.at(0, found("A"))
    assert [story.at(at, RETRIED(level="page")) for at in (20, 40, 4000)] == [[], [], []]
