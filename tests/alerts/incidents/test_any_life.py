"""Invariants of incidents in any sequence of steps."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.steps import IncidentCommand
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import OUTAGE, Scenario, make_fault
from tests.suite.examples import examples

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


@settings(max_examples=examples(300))
@given(INSTANTS)
def test_any_sequence_of_steps_keeps_the_invariants(instants):
    """Check revisions, states and events: revisions grow by one, no root is open twice."""
    story, clock = Scenario(), 0
    for seconds, faults, unknown, is_out, action in instants:
        clock += seconds
        every = [make_fault(members, kind, owner=owner) for members, kind, owner in faults]
        target = [each for each in story.incidents if each.state != "pending"][:1]
        commands = tuple(
            IncidentCommand(each.id, action, "ada", (clock + 50) * SECOND_MICROS)
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
        recorded = list(events)
        assert [each.revision for each in recorded] == list(range(1, len(recorded) + 1))
        assert recorded[0].what in {"opened", "suppressed"}
        assert [each.what for each in recorded].count("opened") <= 1


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
        if was is not None and each.id not in changed and each.is_active:
            assert (each.root, each.members, each.owner, each.state) == (
                was.root, was.members, was.owner, was.state,
            )  # fmt: skip
