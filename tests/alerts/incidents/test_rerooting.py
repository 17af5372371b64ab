"""Changes of an open incident: members, root, owner, severity and merges."""

from alerts.incidents import matching
from tests.alerts.incidents.scenarios import make_fault, root


def test_members_come_and_go_in_one_incident(story):
    """Keep the incident: its key is the root and the kind, not the members."""
    story.opened(make_fault("AB"))

    assert story.at(40, make_fault("ABCD")) == ["joined CD"]
    assert story.at(50, make_fault("ACD")) == ["left B"]
    assert (story.one.revision, story.members) == (3, "ACD")


def test_a_ticket_becomes_a_page_and_a_page_stays_one(story):
    """Notify once of a severity that goes up and down."""
    story.opened(make_fault("A"))

    assert story.at(40, make_fault("A", level="page")) == ["escalated"]
    assert story.at(50, make_fault("A")) == []
    assert story.one.severity.level == "page"


def test_a_fault_further_upstream_takes_the_incident_over(story):
    """Keep the id with the new root, and make the old root a member."""
    story.opened(make_fault("BC"))
    before = story.one.id

    assert story.at(40, make_fault("ABC")) == ["rerooted B>A", "joined A"]
    assert (story.one.id, story.one.root, story.members) == (before, root("A"), "ABC")


def test_another_owner_is_a_hand_over(story):
    """Open it again for the new owner, who has not seen what the first acknowledged."""
    story.opened(make_fault("BC", owner="red"))
    story.do(40, "acknowledge", make_fault("BC", owner="red"))

    changes = story.at(50, make_fault("ABC", owner="blue"))

    assert changes == ["rerooted B>A", "handed_over red>blue", "joined A"]
    assert (story.one.state, story.one.owner) == ("open", "blue")


def test_two_of_one_root_merge_into_the_older(story):
    """Resolve the younger as merged: one fault is one page."""
    story.opened(make_fault("B", owner="red"))
    story.opened(make_fault("B", owner="red"), make_fault("C", owner="blue"), at=40)
    older = min(story.incidents, key=lambda each: each.opened_at)

    changes = story.at(80, make_fault("ABC", owner="blue"))

    assert changes == ["rerooted B>A", "handed_over red>blue", "joined AC", "took_over", "merged"]
    assert story.one.id == older.id
    younger = next(each for each in story.changed if each.id != older.id)
    assert (younger.state, younger.merged_into) == ("resolved", older.id)
    handed_over = next(event for event in story.events if event.what == "handed_over")
    assert handed_over.is_owner_notified  # blue was paged by the younger


def test_pending_incidents_merge_without_an_event(story):
    """Write no event for a pending incident, which notified nobody."""
    story.opened(make_fault("B"))
    story.at(40, make_fault("B"), make_fault("C"))

    assert story.at(50, make_fault("ABC")) == ["rerooted B>A", "joined AC"]


def test_a_fault_that_changes_its_kind_is_one_incident(story):
    """Keep the incident of a run that is slow, then lost, then failed."""
    story.opened(make_fault("A", "slow"))

    assert story.at(40, make_fault("A", "lost")) == ["kind_changed A>A"]
    assert story.at(50, make_fault("A", "failed")) == ["kind_changed A>A"]


def test_a_known_root_is_not_replaced_by_a_symptom(story):
    """Keep the root when the same job waits for an upstream that is good."""
    story.opened(make_fault("A", "silent"))

    assert story.at(40, make_fault("A", "waiting", unknown="upstream_well")) == []
    assert story.one.root == root("A", "silent")


def test_without_re_rooting_there_is_a_second_page(monkeypatch, story):
    """Run the mutant: continue an incident only with the very same root."""
    story.opened(make_fault("BC"))
    monkeypatch.setattr(matching, "_match_faults", _of_the_same_root)

    assert "opened" in story.opened(make_fault("ABC"), at=100)


def _of_the_same_root(live, faults):
    return {fault: [each] for fault in faults for each in live if each.root == fault.root}


def test_an_origin_that_is_unknown_and_then_undeclared_is_one_incident(story):
    """Begin as the version before did, which called an undeclared source `provenance`."""
    story.opened(make_fault("A", "provenance", level="page"))

    assert story.at(40, make_fault("A", "unexpected_source", level="page")) == ["kind_changed A>A"]
    assert story.at(400, make_fault("A", "unexpected_source", level="page")) == []
    assert story.one.root == root("A", "unexpected_source")


def test_an_unknown_and_an_undeclared_source_at_once_stay_two_incidents(story):
    """Keep the incident of the undeclared source when the reads have a source again."""
    both = make_fault("A", "provenance"), make_fault("A", "unexpected_source")
    story.opened(both[0])
    story.opened(*both, at=40)

    assert story.at(80, both[1]) == []
    assert story.at(125, both[1]) == ["resolved"]
    assert story.one.root == both[1].root
