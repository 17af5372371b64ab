"""Steps without new input, which leave nothing to write."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import OUTAGE, Scenario, make_fault
from tests.suite.examples import examples

_WAITS = make_fault("B", "waiting", unknown="upstream_unknown")
_REST = make_fault("B", "silent")


def _after_resolution(story):
    story.opened(make_fault("A"))
    story.at(40)
    story.at(85)
    return (), ""


def _resolved_and_waiting(story):
    story.opened(make_fault("B", "waiting"))
    story.at(40)
    story.at(85)
    return (_WAITS,), ""


def _frozen_while_open(story):
    story.opened(make_fault("AB"))
    return (), "A"


def _frozen_while_pending(story):
    story.at(0, make_fault("A"))
    return (), "A"


def _frozen_by_an_outage(story):
    story.at(0, make_fault("A"))
    story.opened(OUTAGE, at=1)
    return (OUTAGE, make_fault("A")), ""


def _waiting_for_an_unknown_upstream(story):
    story.at(0, make_fault("B", "waiting"))
    return (_WAITS,), ""


def _after_recovery_of_the_root(story):
    story.at(0, make_fault("AB"))
    return (_REST,), ""


def _hidden_until_a_rerun_ends(story):
    story.opened(make_fault("A", hidden_by="move", hidden_until=50 * SECOND_MICROS))
    return (make_fault("A", has_pending_retry=True),), ""


def _open_until_a_rerun_ends(story):
    story.opened(make_fault("A"))
    return (make_fault("A", has_pending_retry=True),), ""


def _open(story):
    story.opened(make_fault("AB"))
    return (make_fault("AB"),), ""


@pytest.mark.parametrize(
    "begin",
    [
        _after_resolution,
        _resolved_and_waiting,
        _frozen_while_open,
        _frozen_while_pending,
        _frozen_by_an_outage,
        _waiting_for_an_unknown_upstream,
        _after_recovery_of_the_root,
        _hidden_until_a_rerun_ends,
        _open_until_a_rerun_ends,
        _open,
    ],
)
def test_idle_steps_leave_incidents_unchanged(story, begin):
    """Keep every incident equal through ten minutes of the same input, after the first step."""
    faults, unknown = begin(story)
    story.at(100, *faults, unknown=unknown)
    before = story.incidents
    assert before

    for seconds in range(101, 700):
        assert story.at(seconds, *faults, unknown=unknown) == []
        assert story.incidents == before


class CountedFaults(tuple):
    """Faults that count how often a step reads all of them."""

    __slots__ = ()
    reads = 0

    def __iter__(self) -> Iterator[DetectedFault]:
        CountedFaults.reads += 1
        return super().__iter__()


def _reads_of_a_step(names):
    faults = CountedFaults(make_fault(each) for each in names)
    incidents = advance((), StepInput(0, faults)).incidents
    CountedFaults.reads = 0
    assert len(advance(incidents, StepInput(SECOND_MICROS, faults)).incidents) == len(names)
    return CountedFaults.reads


def test_a_step_reads_the_faults_equally_often_for_one_and_for_many():
    """Count the reads: one for each incident would stall the watch in a storm."""
    assert _reads_of_a_step("ABCDEFGHIJ") == _reads_of_a_step("A")


_SETS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["A", "AB", "ABC", "B", "BC", "C"]), max_size=2, unique=True),
        st.sampled_from(["", "", "A", "BC"]),
        st.booleans(),
    ),
    max_size=8,
)


@settings(max_examples=examples(200))
@given(_SETS)
def test_repeated_input_settles(instants):
    """Change few incidents by repeated input, whatever came before.

    An hour and a half covers every hold, flap and drain; each of these may change it once.
    """
    story, clock = Scenario(), 0
    for names, unknown, is_out in instants:
        clock += 31
        faults = [
            make_fault(each) for each in names if len({each[0] for each in names}) == len(names)
        ]
        story.at(clock, *faults, *([OUTAGE] if is_out else []), unknown=unknown)
    faults = [make_fault("AB")] if clock % 2 else []
    changes = 0
    for seconds in range(clock + 20, clock + 5400, 20):
        before = story.incidents
        story.at(seconds, *faults)
        changes += story.incidents != before
    assert changes <= 8
