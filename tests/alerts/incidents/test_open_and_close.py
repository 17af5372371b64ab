"""Opening, closing and flapping of incidents."""

import pytest

from alerts.incidents.detected_fault import service_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import LifecycleRules, StepInput
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault


def test_thirty_seconds_bad_open(story):
    """Open after 30 s and no earlier, so that a short fault notifies nobody."""
    assert story.at(0, make_fault("A")) == []
    assert story.at(29, make_fault("A")) == []
    assert story.at(30, make_fault("A")) == ["opened"]
    assert (story.one.state, story.one.revision) == ("open", 1)
    assert story.events[-1].reason == "the fault is still there after 30 s"


def test_a_fault_that_recovers_within_the_hold_opens_nothing(story):
    """Start the hold again at the next fault."""
    story.at(0, make_fault("A"))
    story.at(20)

    assert story.incidents == ()
    assert story.at(30, make_fault("A")) == []
    assert story.at(60, make_fault("A")) == ["opened"]


def test_unauthorized_access_opens_at_once(story):
    """Open at once, as M10 has no hold."""
    assert story.at(0, service_fault("access", "unauthorized_access", 0)) == ["opened"]
    assert story.one.severity.level == "page"
    assert story.events[-1].reason == "incidents of this kind open at once"


def test_forty_five_seconds_good_close(story):
    """Count the 45 s again after one bad evaluation."""
    story.opened(make_fault("A"))
    story.at(100)
    story.at(140, make_fault("A"))
    story.at(150)

    assert story.at(194) == []
    assert story.at(195) == ["resolved"]
    assert story.changed[0].state == "resolved"
    assert story.events[-1].reason == "the fault has been gone for 45 s"


def test_three_opens_in_an_hour_are_flapping(story):
    """Keep one incident and one page, marked as flapping, until it was good for an hour."""
    story.opened(make_fault("A"))
    for begin in (200, 400):
        story.at(begin - 100)
        assert story.at(begin - 50) == ["resolved"]
        changes = story.opened(make_fault("A"), at=begin)

    assert changes == ["reopened", "flapping"]
    assert story.at(500) == story.at(600) == []
    assert story.at(4100) == ["resolved"]
    assert not story.incidents[0].is_flapping
    assert len({event.incident_id for event in story.events}) == 1


def test_three_opens_in_four_hours_are_flapping_at_any_cadence(story):
    """Check a job that runs every 15 minutes and fails for four hours: that is one fault."""
    fault = make_fault("A", cadence_seconds=900)
    story.opened(fault)
    story.do(300, "acknowledge", fault)
    whats = []
    for begin in (4000, 11_200):
        story.at(begin - 100)
        story.at(begin - 50)
        whats.append(story.opened(fault, at=begin))

    assert whats == [["reopened"], ["reopened", "flapping"]]
    assert story.one.state == "acknowledged"


def test_three_opens_in_a_day_are_not(story):
    """Open a new incident for the same fault on the next day."""
    story.opened(make_fault("A"))
    story.at(100)
    story.at(145)

    assert story.opened(make_fault("A"), at=5000) == ["opened"]
    assert len({event.incident_id for event in story.events}) == 2


@pytest.mark.parametrize(
    ("cadence_seconds", "hours", "whats"),
    [
        (900, 2.9, ["reopened"]),
        (900, 3.2, ["opened"]),
        (86_400, 3.9, ["reopened"]),
        (86_400, 4.2, ["opened"]),
        (0, 0.9, ["reopened"]),
    ],
)
def test_a_resolved_incident_is_kept_by_its_cadence(story, cadence_seconds, hours, whats):
    """Keep it for twelve cadences, between one hour and four: a few good runs may be chance."""
    fault = make_fault("A", cadence_seconds=cadence_seconds)
    story.opened(fault)
    story.at(100)
    assert story.at(145) == ["resolved"]

    assert story.opened(fault, at=145 + round(hours * 3600)) == whats


@pytest.mark.parametrize(
    ("acknowledged", "over", "again", "state"),
    [
        (40, 100, 10_000, "acknowledged"),
        # Later than 12 of its cadences: it came back within these of its end.
        (40, 10_000, 10_900, "acknowledged"),
        (40, 14_000, 14_900, "open"),
    ],
)
def test_a_recent_acknowledgement_still_counts(story, acknowledged, over, again, state):
    """Check that an acknowledgement holds for four hours; later the person may be gone."""
    fault = make_fault("A", cadence_seconds=900)
    story.opened(fault)
    story.do(acknowledged, "acknowledge", fault)
    story.at(over)
    story.at(over + 45)

    assert story.opened(fault, at=again) == ["reopened"]
    assert (story.one.state, bool(story.one.acknowledged_by)) == (state, state != "open")


def test_a_flapping_incident_stays_acknowledged(story):
    """Keep any acknowledgement at the third opening; before, page again after four hours."""
    fault = make_fault("A", cadence_seconds=900)
    story.opened(fault)
    states = []
    for begin in (4000, 8000):
        if begin == 8000:
            story.do(4100, "acknowledge", fault)
        story.at(begin - 100)
        story.at(begin - 50)
        story.opened(fault, at=begin)
        states.append((story.one.state, story.one.is_flapping))

    assert states == [("open", False), ("acknowledged", True)]


def test_a_worse_fault_is_not_acknowledged(story):
    """Open the page, as only the ticket was acknowledged."""
    story.opened(make_fault("A"))
    story.do(40, "acknowledge", make_fault("A"))
    story.at(100)
    story.at(145)

    assert story.opened(make_fault("A", level="page"), at=200) == ["reopened", "escalated"]
    assert story.one.state == "open"


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [(LifecycleRules(open_seconds=0), 0), (LifecycleRules(open_seconds=60), 60)],
)
def test_holds_are_data(rules, seconds):
    """Run the mutant: open at once without the hold."""
    first = advance((), StepInput(0, (make_fault("A"),)), rules)
    then = advance(first.incidents, StepInput(seconds * SECOND_MICROS, (make_fault("A"),)), rules)

    assert [each.what for each in (*first.events, *then.events)] == ["opened"]
