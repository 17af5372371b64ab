"""Members that catch up after their root recovered, and members with faults of their own."""

from alerts.incidents import matching
from tests.alerts.incidents.scenarios import make_fault, root


def test_members_that_catch_up_are_no_new_fault(story):
    """Keep the members in the incident: they are late for a while, and have no other root."""
    story.opened(make_fault("ABC"))

    assert story.at(40, make_fault("BC", "silent")) == ["root_recovered", "left A"]
    assert story.at(50, make_fault("C", "silent")) == ["left B"]
    assert story.at(60) == []
    assert story.at(105) == ["resolved"]
    assert len({event.incident_id for event in story.events}) == 1


def test_a_member_that_catches_up_may_become_a_page(story):
    """Page when a critical dataset misses its limit although the root recovered."""
    story.opened(make_fault("AB"))

    changes = story.at(40, make_fault("B", "silent", level="page"))

    assert changes == ["root_recovered", "escalated", "left A"]


def test_a_member_that_does_not_catch_up_is_another_fault(story):
    """Open another incident after an hour, or one and a half cadences of the dataset."""
    slow, quick = make_fault("B", "silent", cadence_seconds=7200), make_fault("C", "silent")
    story.opened(make_fault("ABC"))
    story.at(40, slow, quick)

    assert story.at(3700, slow, quick) == ["left C"]
    assert story.at(3730, slow, quick) == ["opened"]


def test_a_run_under_way_in_an_affected_dataset_stays_in_the_incident(story):
    """Keep it in the incident: its inputs came just before its own limit."""
    story.opened(make_fault("AB"))
    story.at(40, make_fault("B", "silent"))
    mine = frozenset({story.one.id})

    assert story.at(
        50, make_fault("B", "silent"), make_fault("C", "slow", onset=50, affected_by=mine)
    ) == ["joined C"]
    assert story.at(90, make_fault("C", "slow", onset=50, affected_by=mine)) == ["left B"]
    assert story.at(100) == []
    assert story.at(145) == ["resolved"]


def test_a_run_under_way_in_an_unaffected_dataset_is_another_fault(story):
    """Open another incident for a run of another list, and for one that is lost."""
    story.opened(make_fault("AB"))
    story.at(40, make_fault("B", "silent"))
    other = make_fault("C", "slow", onset=50, affected_by=frozenset({"0" * 16}))
    lasting = make_fault("D", "slow", onset=50, affected_by=frozenset({story.one.id}))

    assert story.at(50, other, lasting) == ["joined D", "left B"]
    assert story.at(80, other, lasting) == ["opened"]
    assert story.at(3700, other, lasting) == []
    assert story.at(3730, other, lasting) == ["opened"]


def test_a_fault_that_recovers_before_it_opens_notifies_nobody(story):
    """Notify nobody: an incident of the recovered root would name what is good."""
    rest = make_fault("B", "silent")
    story.at(0, make_fault("AB"))
    story.at(20, rest)

    assert [story.at(seconds, rest) for seconds in (30, 60, 90)] == [[], [], []]
    assert story.at(100) == []
    assert story.incidents == ()


def test_a_fault_that_returns_before_it_opens_is_held_again(story):
    """Notify once the fault was bad for as long as any other."""
    story.at(0, make_fault("AB"))
    story.at(20, make_fault("B", "silent"))
    story.at(40, make_fault("AB"))

    assert story.at(69, make_fault("AB")) == []
    assert story.at(70, make_fault("AB")) == ["opened"]


def test_a_standing_gap_explains_no_catching_up(story):
    """Open a second incident: a gap makes nothing late, and its ticket stays a ticket."""
    gap = make_fault("A", "standing_gap")
    story.opened(gap)
    slow = make_fault("C", "slow", level="page", onset=50, affected_by=frozenset({story.one.id}))

    assert story.opened(gap, slow, at=50) == ["opened"]
    assert len(story.incidents) == 2


def test_a_new_failure_of_a_member_is_a_new_fault(story):
    """Open an incident for a failure after the recovery of the root."""
    story.opened(make_fault("AB"))
    story.at(40, make_fault("B", "silent"))

    assert "opened" in story.opened(make_fault("B", onset=100), at=120)


def test_a_second_fault_in_a_member_is_a_second_incident(story):
    """Open a second incident: the root does not explain a member's own failure."""
    story.opened(make_fault("AB"))

    assert story.opened(make_fault("AB"), make_fault("B"), at=40) == ["opened"]


def test_a_recovered_part_leaves_the_members_that_catch_up(story):
    """Keep what a recovered job made late, while the other job of the upgrade still fails."""
    both = {root("A"), root("B"), root("C", "waiting")}
    story.opened(make_fault("ABC", faults=both))
    recovered = make_fault("A", faults={root("A")}), make_fault("C", "silent", onset=-10)

    assert story.at(40, *recovered) == ["left B"]
    assert story.at(3600, *recovered) == []
    assert story.members == "AC"
    assert story.at(3650, *recovered) == ["left C"]
    assert story.at(3680, *recovered) == ["opened"]


def test_without_remaining_faults_there_is_a_second_page(monkeypatch, story):
    """Run the mutant: open a fault for each member that catches up."""
    story.opened(make_fault("AB"))
    monkeypatch.setattr(matching._Leftovers, "rest_of", lambda *_: None)  # noqa: SLF001

    assert "opened" in story.opened(make_fault("B", "silent"), at=100)
