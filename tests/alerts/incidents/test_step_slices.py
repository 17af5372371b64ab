"""Steps of thousands of incidents, which are written in slices."""

from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.lifecycle import advance
from alerts.incidents.step_slices import first_slice
from alerts.incidents.steps import IncidentCommand, StepInput
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault

_NAMES = [chr(code) for code in range(ord("A"), ord("Z") + 1)]
_PAGES = "XYZ"


def _faults(names):
    return tuple(make_fault(name, level="page" if name in _PAGES else "ticket") for name in names)


def _turn(before, now, most, asked=()):
    return first_slice(before, advance(before.values(), now), asked, most)


def _by_id(done):
    return {each.id: each for each in done.incidents}


def test_a_small_step_is_written_whole():
    """Return the step itself, without a copy."""
    whole = advance((), StepInput(0, _faults("AB")))

    assert first_slice({}, whole, (), 2) is whole


def test_pages_are_written_first():
    """Write three pages before 23 tickets of the same age."""
    before = _by_id(_turn({}, StepInput(0, _faults(_NAMES)), most=3))

    assert {each.root.key for each in before.values()} == {ord(name) for name in _PAGES}


def test_an_incident_with_a_command_never_waits():
    """Write the answer to the command in the same transaction."""
    before = _by_id(advance((), StepInput(0, _faults(_NAMES))))
    last = next(each for each in before.values() if each.root.key == ord("M"))
    opened = _by_id(advance(before.values(), StepInput(30 * SECOND_MICROS, _faults(_NAMES))))
    command = IncidentCommand(last.id, "acknowledge", "ada")
    done = _turn(opened, StepInput(31 * SECOND_MICROS, (), commands=(command,)), 2, {last.id})

    assert last.id in {each.id for each in done.changed}
    assert _by_id(done)[last.id].state == "acknowledged"


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(_NAMES), min_size=5, unique=True),
    st.sets(st.sampled_from(_NAMES)),
    st.integers(1, 9),
)
def test_slices_give_the_result_of_one_step(names, gone, most):
    """Compare slices of `most` with one step: the same incidents, and each event once.

    Each incident changes at most three times in 100 turns, also with one incident a turn.
    """
    whole, parts, events = {}, {}, []
    left = [name for name in names if name not in gone]
    moments = [(0, names), (200, names), (400, left), (600, left)]
    for start, alive in moments:
        whole = _by_id(advance(whole.values(), StepInput(start * SECOND_MICROS, _faults(alive))))
        for second in range(start, start + 100, 5):
            done = _turn(parts, StepInput(second * SECOND_MICROS, _faults(alive)), most)
            assert len({each.incident_id for each in done.events}) <= most
            events += done.events
            parts = _by_id(done)
    written = [(each.incident_id, each.revision) for each in events]

    assert len(written) == len(set(written))
    assert _states(parts) == _states(whole)


def _states(incidents):
    return sorted((each.root.key, each.state) for each in incidents.values())


def test_an_incident_and_the_one_that_it_merges_into_are_written_together():
    """Write both in one slice; apart, both would be notified."""
    both = (make_fault("B"), make_fault("C"), make_fault("D"), make_fault("E"))
    before = _by_id(advance((), StepInput(0, both)))
    before = _by_id(advance(before.values(), StepInput(30 * SECOND_MICROS, both)))
    one_root = make_fault("ABC", faults={make_fault(name).root for name in "ABC"})
    done = _turn(
        before, StepInput(40 * SECOND_MICROS, (one_root, make_fault("D"), make_fault("E"))), 1
    )

    assert {each.what for each in done.events} >= {"merged", "took_over"}
