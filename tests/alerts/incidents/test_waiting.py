"""Incidents that an expected retry, or an upstream that is unknown, holds back."""

from functools import partial

import pytest

from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault, root

DAY = 86_400
RETRIED = partial(make_fault, "A", has_pending_retry=True)
UPSTREAM_UNKNOWN = partial(make_fault, "A", "waiting", unknown="upstream_unknown")


def hide(until, **fields):  # noqa: ANN003
    """Return a fault that a planned window hides."""
    return make_fault("A", hidden_by="move", hidden_until=until * SECOND_MICROS, **fields)


@pytest.mark.parametrize("wait", [RETRIED, UPSTREAM_UNKNOWN], ids=["retry", "upstream"])
def test_an_open_ticket_goes_on_while_it_waits(story, wait):
    """Send updates of a known ticket: only the first notification of a fault is held back."""
    kind = wait().root.kind
    story.opened(make_fault("A", kind, owner="red"))

    assert story.at(60, wait(owner="red")) == []
    assert story.at(70, wait(owner="blue")) == ["handed_over red>blue"]
    assert story.at(DAY + 1, wait(owner="blue", level="page")) == ["escalated"]
    assert story.one.severity.level == "page"


def test_an_open_ticket_is_no_page_while_a_retry_can_meet_the_deadline(story):
    """Begin the retry in time, where a rerun that begins now would be too late."""
    story.opened(make_fault("A"))

    assert story.at(60, RETRIED(level="page")) == []
    assert story.one.severity.level == "ticket"
    assert story.at(70, make_fault("A", level="page")) == ["escalated"]


def test_an_open_ticket_is_handed_to_no_root_whose_upstream_is_unknown(story):
    """Keep the owner; the ticket becomes a page all the same."""
    story.opened(make_fault("B", "waiting", owner="red"))
    doubtful = {"unknown": "upstream_unknown", "owner": "blue", "level": "page"}

    assert story.at(40, make_fault("AB", "waiting", **doubtful)) == ["escalated", "joined A"]
    assert (story.one.root, story.one.owner) == (root("B", "waiting"), "red")
    assert story.at(50, make_fault("AB", "waiting", **doubtful)) == []


def test_an_open_ticket_thaws_while_it_waits(story):
    """Land the backlog; the failure is older than a day."""
    story.opened(make_fault("A"))
    story.at(40, is_behind=True)

    assert story.at(50, RETRIED()) == ["thawed"]
    assert not story.one.is_frozen


def test_a_pending_incident_waits_for_a_retry(story):
    """Open neither a page nor an old incident while a retry is expected."""
    story.at(0, make_fault("A"))
    assert [story.at(at, RETRIED(level="page")) for at in (20, 40, 4000)] == [[], [], []]


def test_a_window_that_ends_in_our_backlog_opens_nothing(story):
    """Open nothing until the backlog has landed, as the state of the fault is unknown."""
    story.opened(hide(100))

    assert story.at(90, is_behind=True) == ["frozen"]
    assert story.at(110, is_behind=True) == []
    assert story.at(200) == ["thawed"]
    assert story.at(245) == ["resolved"]


def test_a_window_that_ends_in_our_backlog_opens_what_is_bad_afterwards(story):
    """Show the fault in the first current evaluation."""
    story.opened(hide(100))
    story.at(90, is_behind=True)

    assert story.at(200, make_fault("A")) == ["thawed", "opened"]


def test_a_suppression_that_ends_in_our_backlog_ends_afterwards(story):
    """Do not say that the fault is still bad without current data of its root."""
    story.opened(make_fault("A"))
    story.do(40, "suppress", make_fault("A"), until=100)
    story.at(90, is_behind=True)

    assert story.at(110, is_behind=True) == []
    assert story.at(200, make_fault("A")) == ["thawed", "unsuppressed"]


def test_a_window_that_ends_during_a_rerun_opens_nothing(story):
    """Let the rerun decide: here it completes."""
    story.opened(hide(100))
    story.at(90, hide(100, has_pending_retry=True))

    assert story.at(110, RETRIED()) == []
    assert story.at(120) == []
    assert story.at(165) == ["resolved"]


def test_a_window_that_ended_during_a_rerun_opens_when_the_rerun_failed(story):
    """Open at once: the fault was held for 30 s before the window hid it."""
    story.opened(hide(100))
    story.at(110, RETRIED())

    assert story.at(120, make_fault("A")) == ["opened"]


def test_a_window_of_days_opens_an_old_failure(story):
    """Hide a failure of two days ago by a window: it is no history loaded late."""
    story.opened(hide(2 * DAY))

    assert story.at(2 * DAY + 1, RETRIED()) == ["opened"]


@pytest.mark.parametrize("is_behind", [True, False])
def test_a_prolonged_window_hides_on(story, is_behind):
    """Prolong it while a rerun, or our backlog, holds the incident."""
    story.opened(hide(100))
    story.at(90, *(() if is_behind else [hide(300, has_pending_retry=True)]), is_behind=is_behind)

    assert "opened" not in story.at(110, hide(300))
    assert story.at(299, hide(300)) == []
    assert story.at(301, make_fault("A")) == ["opened"]


def test_a_prolonged_window_shows_its_new_end_during_a_rerun(story):
    """Show the new end, which pages and messages name."""
    story.opened(hide(100))
    story.at(90, hide(300, has_pending_retry=True))

    assert story.one.suppressed_until == 300 * SECOND_MICROS
