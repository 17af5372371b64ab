"""Incidents with unknown datasets, and outages of Lineward."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alerts.incidents.scenarios import OUTAGE, Scenario, make_fault, root


def test_unknown_freezes_an_incident_as_it_is(story):
    """Freeze the incident while its root is unknown, and open none for what it hides."""
    story.opened(make_fault("AB"))

    assert story.at(40, make_fault("BC", "waiting"), unknown="A") == ["frozen"]
    assert story.at(4000, unknown="A") == []
    assert (story.members, story.one.root) == ("AB", root("A"))
    assert story.at(4010, make_fault("AB")) == ["thawed"]


@pytest.mark.parametrize(
    ("found", "step", "reason"),
    [
        ((), {"unknown": "A"}, "the state of its root is unknown"),
        ((OUTAGE,), {}, "Lineward has an ingestion fault"),
        ((OUTAGE,), {"unknown": "A"}, "Lineward has an ingestion fault"),
        ((), {"is_behind": True}, "the newest evaluation is stale, or lacks events"),
    ],
)
def test_a_frozen_incident_has_the_reason_of_its_own(story, found, step, reason):
    """Record which of three causes freezes the incident."""
    story.opened(make_fault("A"))
    story.at(40, *found, **step)

    frozen = [event.reason for event in story.events if event.what == "frozen"]
    assert len(frozen) == 1
    assert frozen[0].startswith(reason)


def test_an_unknown_member_hides_no_new_fault(story):
    """Open a fault that began after the recovery, although C is still unknown."""
    story.opened(make_fault("ABC"))
    story.at(40, unknown="C")
    story.at(50, make_fault("B", onset=45), unknown="C")

    assert story.at(80, make_fault("B", onset=45), unknown="C") == ["opened"]


def test_good_counts_from_when_it_is_known(story):
    """Resolve 45 s after the thaw, and not 45 s after the root was last seen bad."""
    story.opened(make_fault("A"))
    story.at(40, unknown="A")

    assert story.at(100) == ["thawed"]
    assert story.at(144) == []
    assert story.at(145) == ["resolved"]


def test_unknown_members_stay_while_the_root_is_known(story):
    """Follow all other members."""
    story.opened(make_fault("ABC"))

    assert story.at(40, make_fault("AD"), unknown="B") == ["joined D", "left C"]
    assert story.members == "ABD"


def test_a_fault_with_unknown_upstream_opens_nothing(story):
    """Open nothing downstream of a fault of Lineward."""
    waits = make_fault("B", "waiting", unknown="upstream_unknown")

    assert story.opened(waits, at=0) == []
    assert story.incidents == ()


def test_an_outage_is_the_one_incident(story):
    """Open, resolve and join nothing else until the outage ends."""
    story.opened(make_fault("A"))
    story.at(40, make_fault("A"), make_fault("X"))

    assert story.at(50, OUTAGE, make_fault("AB"), make_fault("X"), make_fault("Y")) == ["frozen"]
    assert story.at(80, OUTAGE, make_fault("AB"), make_fault("X"), make_fault("Y")) == ["opened"]
    assert story.at(4000, OUTAGE) == []
    assert story.at(4010, make_fault("A"), make_fault("X")) == ["thawed"]
    assert story.at(4040, make_fault("A"), make_fault("X")) == ["opened"]  # X is held again
    assert story.at(4055, make_fault("A"), make_fault("X")) == ["resolved"]  # the outage


def test_nothing_opens_or_closes_while_events_wait(story):
    """Open and close by an evaluation that has all events, and hold both as long as ever."""
    story.opened(make_fault("A"))

    assert story.at(40, make_fault("X"), is_behind=True) == ["frozen"]
    assert story.at(400, make_fault("X"), is_behind=True) == []
    assert story.at(410, make_fault("X")) == ["thawed"]
    assert story.at(439, make_fault("X")) == []
    assert story.at(440, make_fault("X")) == ["opened"]
    assert story.at(455, make_fault("X")) == ["resolved"]


def test_an_outage_lasts_until_its_backlog_is_landed(story):
    """Keep the one incident open: what it explains is still unknown."""
    story.opened(OUTAGE)

    assert story.at(40, make_fault("A"), is_behind=True) == ["frozen"]
    assert story.at(400, make_fault("A"), is_behind=True) == []
    assert story.at(410) == ["thawed"]
    assert story.at(455) == ["resolved"]
    assert len({event.incident_id for event in story.events}) == 1


def test_an_unknown_member_does_not_keep_a_recovered_incident_open(story):
    """Resolve the incident: only one of many members is unknown."""
    story.opened(make_fault("ABCDEFG"))

    assert story.at(40, unknown="F") == []
    assert story.at(85, unknown="F") == ["resolved"]


def test_known_members_leave_beside_an_unknown_one(story):
    """Remove B and C from the incident; D still catches up, and E stays as unknown."""
    story.opened(make_fault("ABCDE"))

    assert story.at(40, make_fault("D", "silent"), unknown="E") == ["root_recovered", "left ABC"]
    assert story.members == "DE"
    assert story.at(50, unknown="E") == []
    assert story.at(95, unknown="E") == ["resolved"]


LETTERS = st.sets(st.sampled_from("BCDEFG"), min_size=1)


@given(LETTERS, LETTERS, st.booleans())
def test_only_an_unknown_root_freezes(members, unknown, is_root_unknown):
    """Freeze by the keys of the root, and by those of no member."""
    story = Scenario()
    story.opened(make_fault("A" + "".join(sorted(members))))
    hidden = "".join(unknown) + ("A" if is_root_unknown else "")
    story.at(40, unknown=hidden)
    story.at(85, unknown=hidden)

    states = [each.state for each in story.incidents]
    assert states == (["open"] if is_root_unknown else ["resolved"])
    assert [each.is_frozen for each in story.incidents] == [is_root_unknown]
