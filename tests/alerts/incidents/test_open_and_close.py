"""When an incident opens, closes, and flaps."""

import pytest

from alerts.incidents.estate import MICROS
from alerts.incidents.incident import service_fault
from alerts.incidents.life import step
from alerts.incidents.steps import LifeRules, Now
from tests.alerts.incidents.stories import found


def test_thirty_seconds_bad_open(story):
    """Not a second before: what heals by itself wakes nobody."""
    assert story.at(0, found("A")) == []
    assert story.at(29, found("A")) == []
    assert story.at(30, found("A")) == ["opened"]
    assert (story.one.state, story.one.revision) == ("open", 1)


def test_what_heals_within_the_hold_never_was(story):
    """And the hold begins anew."""
    story.at(0, found("A"))
    story.at(20)

    assert story.incidents == ()
    assert story.at(30, found("A")) == []
    assert story.at(60, found("A")) == ["opened"]


def test_unauthorized_access_opens_at_once(story):
    """M10 has no hold."""
    assert story.at(0, service_fault("access", "api", 0)) == ["opened"]
    assert story.one.severity.level == "page"


def test_forty_five_seconds_good_close(story):
    """One bad evaluation between begins them anew."""
    story.opened(found("A"))
    story.at(100)
    story.at(140, found("A"))
    story.at(150)

    assert story.at(194) == []
    assert story.at(195) == ["resolved"]
    assert story.changed[0].state == "resolved"


def test_three_opens_in_an_hour_are_flapping(story):
    """One incident with one page; it stays open and says so, until it was good for an hour."""
    story.opened(found("A"))
    for begin in (200, 400):
        story.at(begin - 100)
        assert story.at(begin - 50) == ["resolved"]
        changes = story.opened(found("A"), at=begin)

    assert changes == ["reopened", "flapping"]
    assert story.at(500) == story.at(600) == []
    assert story.at(4100) == ["resolved"]
    assert not story.incidents[0].is_flapping
    assert len({event.incident_id for event in story.events}) == 1


def test_three_opens_in_a_day_are_not(story):
    """The same fault tomorrow is a new incident."""
    story.opened(found("A"))
    story.at(100)
    story.at(145)

    assert story.opened(found("A"), at=5000) == ["opened"]
    assert len({event.incident_id for event in story.events}) == 2


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [(LifeRules(open_seconds=0), 0), (LifeRules(open_seconds=60), 60)],
)
def test_holds_are_data(rules, seconds):
    """The mutant: without its hold it opens at once."""
    first = step((), Now(0, (found("A"),)), rules)
    then = step(first.incidents, Now(seconds * MICROS, (found("A"),)), rules)

    assert [each.what for each in (*first.events, *then.events)] == ["opened"]
