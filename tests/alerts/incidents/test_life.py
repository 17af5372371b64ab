import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents import matching
from alerts.incidents.estate import MICROS
from alerts.incidents.incident import Command, LifeRules, Now, service_fault
from alerts.incidents.life import step
from tests.alerts.incidents.stories import Story, found, root

OUTAGE = service_fault("ingestion", "collector", 0)


@pytest.fixture
def story():
    """Nothing has happened yet."""
    return Story()


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


def test_members_come_and_go_in_one_incident(story):
    """Its key is the root and the kind, never the list of members."""
    story.opened(found("AB"))

    assert story.at(40, found("ABCD")) == ["joined CD"]
    assert story.at(50, found("ACD")) == ["left B"]
    assert (story.one.revision, story.members) == (3, "ACD")


def test_a_ticket_becomes_a_page_and_a_page_stays_one(story):
    """Nobody is told twice of a severity that goes up and down."""
    story.opened(found("A"))

    assert story.at(40, found("A", level="page")) == ["escalated"]
    assert story.at(50, found("A")) == []
    assert story.one.severity.level == "page"


def test_a_fault_further_upstream_takes_the_incident_over(story):
    """Re-rooting: the same id, the new root, and the old one is a member."""
    story.opened(found("BC"))
    before = story.one.id

    assert story.at(40, found("ABC")) == ["rerooted B>A", "joined A"]
    assert (story.one.id, story.one.root, story.members) == (before, root("A"), "ABC")


def test_another_owner_is_a_hand_over(story):
    """What the first owner acknowledged, the new one has not seen."""
    story.opened(found("BC", owner="red"))
    story.do(40, "acknowledge", found("BC", owner="red"))

    changes = story.at(50, found("ABC", owner="blue"))

    assert changes == ["rerooted B>A", "handed_over red>blue", "joined A"]
    assert (story.one.state, story.one.owner) == ("open", "blue")


def test_two_of_one_root_merge_into_the_older(story):
    """One fault, one page: the younger is resolved as merged."""
    story.opened(found("B", owner="red"))
    story.opened(found("B", owner="red"), found("C", owner="blue"), at=40)
    older = min(story.incidents, key=lambda each: each.opened_at)

    changes = story.at(80, found("ABC", owner="blue"))

    assert changes == ["rerooted B>A", "handed_over red>blue", "joined AC", "took_over", "merged"]
    assert story.one.id == older.id
    younger = next(each for each in story.changed if each.id != older.id)
    assert (younger.state, younger.merged_into) == ("resolved", older.id)
    handed_over = next(event for event in story.events if event.what == "handed_over")
    assert handed_over.is_told_already  # blue was paged by the younger


def test_what_was_not_told_merges_without_a_word(story):
    """Nobody heard of the pending one."""
    story.opened(found("B"))
    story.at(40, found("B"), found("C"))

    assert story.at(50, found("ABC")) == ["rerooted B>A", "joined AC"]


def test_the_course_of_one_fault_is_one_incident(story):
    """A run is slow, then lost, then failed."""
    story.opened(found("A", "slow"))

    assert story.at(40, found("A", "lost")) == ["kind_changed A>A"]
    assert story.at(50, found("A", "failed")) == ["kind_changed A>A"]


def test_a_known_root_is_not_given_up_for_a_symptom(story):
    """The same job waits now for somebody who is well: that is no news."""
    story.opened(found("A", "silent"))

    assert story.at(40, found("A", "waiting", unknown="upstream_well")) == []
    assert story.one.root == root("A", "silent")


def test_members_that_catch_up_are_no_new_fault(story):
    """The root is mended; what it made late is late for a while, and has no other root."""
    story.opened(found("ABC"))

    assert story.at(40, found("BC", "silent")) == ["root_recovered", "left A"]
    assert story.at(50, found("C", "silent")) == ["left B"]
    assert story.at(60) == []
    assert story.at(105) == ["resolved"]
    assert len({event.incident_id for event in story.events}) == 1


def test_what_has_to_catch_up_may_become_a_page(story):
    """The root is mended, and a critical dataset misses its limit all the same."""
    story.opened(found("AB"))

    changes = story.at(40, found("B", "silent", level="page"))

    assert changes == ["root_recovered", "escalated", "left A"]


def test_who_does_not_catch_up_is_a_fault_of_its_own(story):
    """After an hour, or one and a half of its cadences."""
    slow, quick = found("B", "silent", cadence_seconds=7200), found("C", "silent")
    story.opened(found("ABC"))
    story.at(40, slow, quick)

    assert story.at(3700, slow, quick) == ["left C"]
    assert story.at(3730, slow, quick) == ["opened"]


def test_a_new_failure_of_a_member_is_a_new_fault(story):
    """It failed after the root had recovered."""
    story.opened(found("AB"))
    story.at(40, found("B", "silent"))

    assert "opened" in story.opened(found("B", onset=100), at=120)


def test_a_second_fault_in_a_member_is_a_second_incident(story):
    """Two at once: the root explains no failure of its own."""
    story.opened(found("AB"))

    assert story.opened(found("AB"), found("B"), at=40) == ["opened"]


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


def test_unknown_freezes_an_incident_as_it_is(story):
    """Our silence heals nothing: neither closed nor changed, and no new one for what it hides."""
    story.opened(found("AB"))

    assert story.at(40, found("BC", "waiting"), unknown="A") == ["frozen"]
    assert story.at(4000, unknown="A") == []
    assert (story.members, story.one.root) == ("AB", root("A"))
    assert story.at(4010, found("AB")) == ["thawed"]


def test_an_unknown_member_hides_no_new_fault(story):
    """The root is good; what begins since is another, though C cannot be told yet."""
    story.opened(found("ABC"))
    story.at(40, unknown="C")
    story.at(50, found("B", onset=45), unknown="C")

    assert story.at(80, found("B", onset=45), unknown="C") == ["opened"]


def test_good_counts_from_when_it_is_known(story):
    """45 s after it thawed, not after its root was last seen bad."""
    story.opened(found("A"))
    story.at(40, unknown="A")

    assert story.at(100) == ["thawed"]
    assert story.at(144) == []
    assert story.at(145) == ["resolved"]


def test_unknown_members_stay_while_the_root_is_known(story):
    """The rest goes on."""
    story.opened(found("ABC"))

    assert story.at(40, found("AD"), unknown="B") == ["joined D", "left C"]
    assert story.members == "ABD"


def test_what_waits_for_what_is_unknown_is_not_told(story):
    """Everything behind our own fault waits."""
    waits = found("B", "waiting", unknown="upstream_unknown")

    assert story.opened(waits, at=0) == []
    assert story.incidents == ()


def test_an_outage_is_the_one_incident(story):
    """Nothing new opens, nothing closes, nobody joins, until we can see again."""
    story.opened(found("A"))
    story.at(40, found("A"), found("X"))

    assert story.at(50, OUTAGE, found("AB"), found("X"), found("Y")) == ["frozen"]
    assert story.at(80, OUTAGE, found("AB"), found("X"), found("Y")) == ["opened"]
    assert story.at(4000, OUTAGE) == []
    assert story.at(4010, found("A"), found("X")) == ["thawed"]
    assert story.at(4040, found("A"), found("X")) == ["opened"]  # X held anew
    assert story.at(4055, found("A"), found("X")) == ["resolved"]  # the outage


def test_a_person_acknowledges(story):
    """Once; and who it was is in the event."""
    story.opened(found("A"))

    assert story.do(40, "acknowledge", found("A")) == ["acknowledged"]
    assert (story.one.state, story.events[-1].by) == ("acknowledged", "ada")
    assert story.do(50, "acknowledge", found("A")) == []
    assert "it is acknowledged" in story.refused[0].reason


def test_a_suppression_ends(story):
    """It goes on underneath, and shows as it is afterwards."""
    story.opened(found("A"))
    story.do(40, "suppress", found("A"), until=100)

    assert story.at(50, found("AB")) == ["joined B"]
    assert story.one.state == "suppressed"
    assert story.at(100, found("AB")) == ["unsuppressed"]
    assert story.one.state == "open"


@pytest.mark.parametrize("until", [None, 40, 10])
def test_an_open_ended_suppression_is_refused(story, until):
    """And so is one that is over."""
    story.opened(found("A"))

    assert story.do(40, "suppress", found("A"), until=until) == []
    assert "needs an end" in story.refused[0].reason


def test_a_planned_window_hides_from_the_beginning(story):
    """What is still bad when it ends opens then."""
    hidden = found("A", hidden_by="backfill", hidden_until=100 * MICROS)
    story.at(0, hidden)

    assert story.at(30, hidden) == ["suppressed"]
    assert story.at(99, hidden) == []
    assert story.at(100, found("A")) == ["opened"]


def test_a_window_that_somebody_ended_hides_no_longer(story):
    """It was to end at 100 s, and nothing hides the fault from 50 s on: opened right after."""
    hidden = found("A", hidden_by="backfill", hidden_until=100 * MICROS)
    story.opened(hidden)

    assert story.at(50, found("A")) == []
    assert story.at(51, found("A")) == ["opened"]


def test_what_a_window_hid_and_is_good_is_not_opened(story):
    """A backfill that went well."""
    hidden = found("A", hidden_by="backfill", hidden_until=100 * MICROS)
    story.opened(hidden)
    story.at(80)

    assert story.at(100) == []
    assert story.at(125) == ["resolved"]
    assert all(each.opened_at is None for each in story.changed)


def test_a_planned_window_keeps_what_was_resolved(story):
    """A backfill an hour after a fault reopens nothing."""
    story.opened(found("A"))
    story.at(100)
    story.at(145)

    hidden = found("A", hidden_by="backfill", hidden_until=1000 * MICROS)

    assert story.opened(hidden, at=200) == []
    assert story.opened(found("A"), at=1000) == ["reopened"]


def test_what_a_person_resolved_stays_quiet_until_it_was_good(story):
    """It is bad still, and whoever said so knows it. The next time is another."""
    story.opened(found("AB"))

    assert story.do(40, "resolve", found("AB")) == ["resolved"]
    assert story.at(100, found("AB")) == story.at(3000, found("AB")) == []
    assert story.at(3100) == story.at(3150) == []
    assert story.opened(found("AB", onset=8000), at=8000) == ["opened"]


def test_a_new_failure_after_a_person_resolved_opens(story):
    """What began since is not what was resolved."""
    story.opened(found("A"))
    story.do(40, "resolve", found("A"))

    assert story.opened(found("A", onset=50), at=60) == ["opened"]


def test_nobody_commands_what_is_not_there(story):
    """Refused in words, not in silence."""
    story.opened(found("A"))
    story.at(40, found("A"), commands=(Command("0" * 16, "resolve", "ada"),))

    assert "no such incident" in story.refused[0].reason


FAULTS = st.lists(
    st.tuples(
        st.sampled_from(["A", "AB", "ABC", "B", "BC", "C", "CD", "D"]),
        st.sampled_from(["failed", "silent", "slow"]),
        st.sampled_from(["red", "blue"]),
    ),
    max_size=3,
    unique_by=lambda fault: fault[0][0],
)
INSTANTS = st.lists(
    st.tuples(
        st.integers(1, 80),
        FAULTS,
        st.sampled_from(["", "", "A", "BC"]),
        st.booleans(),
        st.sampled_from([None, None, "acknowledge", "suppress", "unsuppress", "resolve"]),
    ),
    max_size=25,
)


@settings(max_examples=300, deadline=None)
@given(INSTANTS)
def test_whatever_happens(instants):
    """Revisions grow by one, each change is told in its state, and no root is open twice."""
    story, clock = Story(), 0
    for seconds, faults, unknown, is_out, action in instants:
        clock += seconds
        every = [found(members, kind, owner=owner) for members, kind, owner in faults]
        target = [each for each in story.incidents if each.state != "pending"][:1]
        commands = tuple(
            Command(each.id, action, "ada", (clock + 50) * MICROS)
            for each in target
            if action is not None
        )
        before = {each.id: each for each in story.incidents}
        story.at(clock, *every, *([OUTAGE] if is_out else []), unknown=unknown, commands=commands)
        check(story, before, is_out=is_out)
    by_incident = itertools.groupby(
        sorted(story.events, key=lambda each: (each.incident_id, each.revision)),
        lambda each: each.incident_id,
    )
    for _, events in by_incident:
        told = list(events)
        assert [each.revision for each in told] == list(range(1, len(told) + 1))
        assert told[0].what in {"opened", "suppressed"}
        assert [each.what for each in told].count("opened") <= 1


def check(story, before, *, is_out):
    roots = [each.root for each in story.incidents if each.state not in {"pending", "resolved"}]
    assert len(roots) == len(set(roots))
    for each in story.changed:
        was = before.get(each.id)
        assert each.revision > (was.revision if was else 0)
        if is_out and each.root.entity != "service" and was is not None:
            assert (each.root, each.members, each.severity) == (
                was.root, was.members, was.severity,
            )  # fmt: skip
    changed = {each.id for each in story.changed}
    for each in story.incidents:
        was = before.get(each.id)
        if was is not None and each.id not in changed and each.is_told:
            assert (each.root, each.members, each.owner, each.state) == (
                was.root, was.members, was.owner, was.state,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [(LifeRules(open_seconds=0), 0), (LifeRules(open_seconds=60), 60)],
)
def test_holds_are_data(rules, seconds):
    """The mutant: without its hold it opens at once."""
    first = step((), Now(0, (found("A"),)), rules)
    then = step(first.incidents, Now(seconds * MICROS, (found("A"),)), rules)

    assert [each.what for each in (*first.events, *then.events)] == ["opened"]


def test_without_re_rooting_there_is_a_second_page(monkeypatch, story):
    """The mutant: an incident continues only what has the very same root."""
    story.opened(found("BC"))
    monkeypatch.setattr(matching, "_claims", _of_the_same_root)

    assert "opened" in story.opened(found("ABC"), at=100)


def _of_the_same_root(live, faults):
    return {fault: [each] for fault in faults for each in live if each.root == fault.root}


def test_without_the_rest_there_is_a_second_page(monkeypatch, story):
    """The mutant: what has to catch up is a fault of its own."""
    story.opened(found("AB"))
    monkeypatch.setattr(matching._Idle, "rest_of", lambda *_: None)  # noqa: SLF001

    assert "opened" in story.opened(found("B", "silent"), at=100)
