"""Plan of a day: each fault has a chain of its own; kinds that need days are rejected by name."""

import pytest

from lab.gameday.live.estate import PACE, WritePace, chains
from lab.gameday.live.plan import NOT_PLAYED, QUIET_KINDS, chains_for, kinds_of, plan_live_faults
from lab.gameday.truth_shapes import INJECTED_KINDS
from tests.lab.gameday.live.days import BEGINS


def make_plan(faults, seed=1, kinds=(), pace=PACE):
    estate = chains(seed, chains_for(faults), BEGINS)
    return estate, plan_live_faults(estate, faults, kinds_of(kinds), pace)


def test_no_two_share_a_chain_and_one_chain_is_left_alone():
    """Affect no dataset by two faults."""
    estate, found = make_plan(20)
    affected = [{each.job} | estate.descendants({each.job}) for each in found]
    sources = [job for job in estate.jobs if not job.inputs]

    assert sum(map(len, affected)) == len(set().union(*affected))
    assert len(sources) == len(found) + 1 == 25


def test_silent_faults_are_always_planned():
    """Leave a fifth in order, two at least."""
    for faults, quiet in ((1, 2), (20, 4)):
        _, found = make_plan(faults)
        kinds = [each.kind for each in found]
        assert sum(kind in QUIET_KINDS for kind in kinds) == quiet
        assert len(kinds) == faults + quiet


def test_a_run_that_is_retried_a_minute_later_is_no_silent_fault():
    """Open a ticket for its failure before the retry."""
    _, found = make_plan(20, pace=WritePace(60))

    assert [each.kind for each in found if each.kind in QUIET_KINDS] == ["retired_job"] * 4


def test_the_same_seed_is_the_same_day():
    """Plan another day for another seed."""
    assert make_plan(8)[1] == make_plan(8)[1] != make_plan(8, seed=2)[1]


def test_only_what_was_asked_for():
    """Choose by name."""
    _, found = make_plan(3, kinds=["late_source"])

    assert [each.kind for each in found if each.kind not in QUIET_KINDS] == ["late_source"] * 3


@pytest.mark.parametrize("name", [*NOT_PLAYED, "retired_job", "flood"])
def test_a_fault_that_cannot_be_played_is_rejected_with_a_reason(name):
    """Name the option and the kind."""
    with pytest.raises(ValueError, match=f"^--kind {name}: .{{10,}}"):
        kinds_of([name])


def test_every_kind_is_played_or_rejected():
    """Allow for no kind without a decision."""
    for kind in INJECTED_KINDS:
        try:
            assert kinds_of([kind]) == (kind,)
        except ValueError:
            assert kind in NOT_PLAYED or kind == "retired_job"
