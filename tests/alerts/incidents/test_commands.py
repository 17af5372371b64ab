"""Commands of people, and windows that they plan."""

import msgspec
import pytest

from alerts.incidents.steps import IncidentCommand
from alerts.root_cause.severity import IncidentSeverity
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault


def test_a_person_acknowledges(story):
    """Acknowledge once, and store the person in the event."""
    story.opened(make_fault("A"))

    assert story.do(40, "acknowledge", make_fault("A")) == ["acknowledged"]
    assert (story.one.state, story.events[-1].by) == ("acknowledged", "ada")
    assert story.do(50, "acknowledge", make_fault("A")) == []
    assert "it is acknowledged" in story.rejected[0].reason


def test_a_suppression_ends(story):
    """Follow the fault while it is hidden, and show its state afterwards."""
    story.opened(make_fault("A"))
    story.do(40, "suppress", make_fault("A"), until=100)

    assert story.at(50, make_fault("AB")) == ["joined B"]
    assert story.one.state == "suppressed"
    assert story.at(100, make_fault("AB")) == ["unsuppressed"]
    assert story.one.state == "open"


@pytest.mark.parametrize("until", [None, 40, 10])
def test_an_open_ended_suppression_is_rejected(story, until):
    """Reject a suppression without an end, or with an end in the past."""
    story.opened(make_fault("A"))

    assert story.do(40, "suppress", make_fault("A"), until=until) == []
    assert "needs an end" in story.rejected[0].reason


def test_a_planned_window_hides_from_the_beginning(story):
    """Open what is still bad when the window ends."""
    hidden = make_fault("A", hidden_by="backfill", hidden_until=100 * SECOND_MICROS)
    story.at(0, hidden)

    assert story.at(30, hidden) == ["suppressed"]
    assert story.at(99, hidden) == []
    assert story.at(100, make_fault("A")) == ["opened"]


def test_an_ended_window_hides_no_longer(story):
    """Open the incident when nothing hides the fault any more, before the planned end."""
    hidden = make_fault("A", hidden_by="backfill", hidden_until=100 * SECOND_MICROS)
    story.opened(hidden)

    assert story.at(50, make_fault("A")) == []
    assert story.at(51, make_fault("A")) == ["opened"]


def test_a_fault_that_recovers_in_its_window_is_not_opened(story):
    """End the incident with its note: the backfill succeeded."""
    hidden = make_fault("A", hidden_by="backfill", hidden_until=100 * SECOND_MICROS)
    story.opened(hidden)
    story.at(80)

    assert story.at(100) == []
    assert story.at(125) == ["resolved"]
    assert all(each.opened_at is None for each in story.changed)


def test_a_fault_in_a_window_does_not_reopen(story):
    """Reopen nothing for a backfill an hour after a fault."""
    story.opened(make_fault("A"))
    story.at(100)
    story.at(145)

    hidden = make_fault("A", hidden_by="backfill", hidden_until=1000 * SECOND_MICROS)

    assert story.opened(hidden, at=200) == []
    assert story.opened(make_fault("A"), at=1000) == ["reopened"]


def test_a_dismissed_incident_is_quiet_until_it_was_good(story):
    """Stay resolved while the fault goes on. The next fault is another incident."""
    story.opened(make_fault("AB"))

    assert story.do(40, "resolve", make_fault("AB")) == ["resolved"]
    assert story.at(100, make_fault("AB")) == story.at(3000, make_fault("AB")) == []
    assert story.at(3100) == story.at(3150) == []
    assert story.opened(make_fault("AB", onset=8000), at=8000) == ["opened"]


def test_a_dismissed_incident_takes_in_more_datasets_without_a_message(story):
    """Notify nobody of datasets that the fault makes bad later, as the runbook says."""
    story.opened(make_fault("A"))
    story.do(40, "resolve", make_fault("A"))

    assert story.opened(make_fault("AB"), at=100) == story.at(3000, make_fault("ABC")) == []
    assert story.opened(make_fault("AB"), make_fault("D"), at=3100) == ["opened"]


def test_a_new_failure_after_a_person_resolved_opens(story):
    """Open an incident for a fault that began since."""
    story.opened(make_fault("A"))
    story.do(40, "resolve", make_fault("A"))

    assert story.opened(make_fault("A", onset=50), at=60) == ["opened"]


def test_a_command_for_an_unknown_incident_is_rejected(story):
    """Reject it with a reason."""
    story.opened(make_fault("A"))
    story.at(40, make_fault("A"), commands=(IncidentCommand("0" * 16, "resolve", "ada"),))

    assert "no such incident" in story.rejected[0].reason


def test_an_acknowledged_ticket_that_becomes_a_page_is_open_again(story):
    """Expect an acknowledgement of the page itself: the person acknowledged a ticket."""
    story.opened(make_fault("A"))
    story.do(40, "acknowledge", make_fault("A"))

    assert story.at(50, make_fault("A", level="page")) == ["escalated"]
    assert (story.one.state, story.one.acknowledged_by) == ("open", None)


def test_an_escalation_names_the_time_at_which_a_critical_dataset_is_reached(story):
    """Record the time: a person compares it with the time that the fix takes."""
    soon = IncidentSeverity("page", "soon", hit_at=3600 * SECOND_MICROS)
    story.opened(make_fault("A"))
    story.at(50, msgspec.structs.replace(make_fault("A"), severity=soon))

    at = "1970-01-01 01:00:00 UTC"
    assert story.events[-1].reason == f"a critical dataset misses its limit or is read at {at}"


def test_an_acknowledged_ticket_that_becomes_a_page_while_suppressed_opens_with_the_end(story):
    """Stay quiet until the suppression ends, and open then."""
    story.opened(make_fault("A"))
    story.do(40, "acknowledge", make_fault("A"))
    story.do(45, "suppress", make_fault("A"), until=100)

    assert story.at(50, make_fault("A", level="page")) == ["escalated"]
    assert story.one.state == "suppressed"
    assert story.at(100, make_fault("A", level="page")) == ["unsuppressed"]
    assert story.one.state == "open"


@pytest.mark.parametrize("members", ["A", "AB"])
def test_a_resolved_ticket_that_becomes_a_page_opens(story, members):
    """Open it, since the person resolved a ticket; a page that was resolved stays quiet."""
    story.opened(make_fault(members))
    story.do(40, "resolve", make_fault(members))
    page = make_fault(members, level="page")

    assert story.opened(page, at=50) == ["opened"]
    assert story.one.severity.level == "page"
    story.do(90, "resolve", page)
    assert story.opened(page, at=100) == story.opened(page, at=1000) == []


def test_a_resolved_failed_run_ticket_that_becomes_a_page_opens(story):
    """Resolve it before any dataset is bad."""
    failed = make_fault("A")
    early = msgspec.structs.replace(failed, bad_keys=frozenset())
    story.opened(early)
    story.do(40, "resolve", early)

    assert story.opened(make_fault("A", level="page"), at=50) == ["opened"]
