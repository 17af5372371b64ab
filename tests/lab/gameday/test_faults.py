"""Injected faults, and their truth."""

import msgspec
import pytest

from lab.gameday.estate import Shape, build_estate
from lab.gameday.faults import plan_faults
from lab.gameday.model import DAY, HOUR
from lab.gameday.policy import PLATFORM, build_policy
from lab.gameday.slots import begins_at, next_slot
from lab.gameday.truth_shapes import INJECTED_KINDS, SILENT_KINDS, NamePattern


@pytest.fixture(scope="module")
def estate():
    return build_estate(Shape(seed=1))


@pytest.fixture(scope="module")
def day(estate):
    return plan_faults(estate, 60)


def fault(day, kind):
    return next(each for each in day.truth.faults if each.kind == kind)


def injected(day, kind):
    return next(each for each in day.injected if each.kind == kind)


def test_the_seed_is_the_plan():
    """Plan the same, byte for byte; another seed plans otherwise."""
    estates = (build_estate(Shape(seed, datasets=500, days=20)) for seed in (1, 1, 2))
    one, again, other = (msgspec.json.encode(plan_faults(each, 20)) for each in estates)

    assert one == again
    assert one != other


_SHORT = (
    "tests/lab/gameday/test_faults.py"
    "::test_kinds_of_few_jobs_find_theirs_before_others_take_them[1905149407]"
)
_OTHERS = [1390851128, 1390882804, 1390914480]


@pytest.mark.parametrize(
    "seed",
    [
        1905149407,
        *(pytest.param(seed, marks=pytest.mark.nightly(short=_SHORT)) for seed in _OTHERS),
    ],
)
def test_kinds_of_few_jobs_find_theirs_before_others_take_them(seed):
    """Choose first for kinds with few jobs: only quarter-hourly jobs can flap."""
    planned = plan_faults(build_estate(Shape(seed=seed, datasets=1000, days=20)), 40)

    assert {each.kind for each in planned.truth.faults} == set(INJECTED_KINDS)


def test_more_faults_than_an_estate_has_jobs_for_are_rejected():
    """Try one kind after another, and name the one that has no job left."""
    with pytest.raises(ValueError, match="no job of the 100 datasets in 6 days is free"):
        plan_faults(
            build_estate(Shape(seed=3, datasets=100, days=6)), 200, ["killed_job", "backfill"]
        )


def test_every_kind_is_planned(day):
    """Plan sixty faults of all kinds, each of three expectations among them."""
    assert len(day.truth.faults) == 60
    assert {each.kind for each in day.truth.faults} == set(INJECTED_KINDS)
    assert {each.expect for each in day.truth.faults} == {"page", "ticket", "silence"}


def test_nothing_is_done_while_limits_are_learned(day):
    """Inject nothing in the first ten days, and end before the last day."""
    truth = day.truth
    assert truth.judged_from == truth.starts_at + 10 * DAY
    for each in truth.faults:
        assert each.starts_at >= truth.judged_from - 9 * HOUR  # a day begins in Tokyo before it
        assert each.kind == "retired_job" or each.over_at <= truth.ends_at


def test_faults_affect_no_job_that_is_still_learned(estate, day):
    """Wait for eight gaps, in which a holiday or an outage may lie."""
    short = build_estate(Shape(seed=3334195001, datasets=1000, days=20))
    for planned, of in ((day, estate), (plan_faults(short, 40), short)):
        for each in planned.injected:
            if not each.jobs or each.kind in {"holiday", "spark_upgrade"}:  # of many jobs at once
                continue
            job = of.jobs[each.jobs[0]]
            if job.cadence in {"daily", "weekday"}:
                assert len(_slots(of, job, each.starts_at)) >= 10, (each.kind, job.name)


def _slots(estate, job, until):
    found = [begins_at(estate) - 1]
    while found[-1] < until:
        found.append(next_slot(estate, job, found[-1]))
    return found[1:-1]


def test_several_faults_come_at_once(day):
    """Plan two and three within one day, with disjoint harm."""
    expected = [each for each in day.truth.faults if each.expect != "silence"]
    at_once = [
        sum(one.starts_at <= other.starts_at < one.starts_at + DAY for other in expected)
        for one in expected
    ]
    assert max(at_once) >= 3
    for one in expected:
        for other in expected:
            if one is not other and one.starts_at < other.over_at and other.starts_at < one.over_at:
                assert not set(one.causes) & set(other.causes)
                assert not set(one.impact) & set(other.impact)


def test_silent_faults_stay_silent(day):
    """Stay silent by its kind; so does a clock that is ahead."""
    for each in day.truth.faults:
        is_silent = each.kind in SILENT_KINDS or each.variant == "ahead"
        assert (each.expect == "silence") == is_silent


def test_the_truth_of_a_killed_job(estate, day):
    """Take cause, owner and impact from the estate."""
    given, own = fault(day, "killed_job"), injected(day, "killed_job")
    job = estate.jobs[own.jobs[0]]
    below = estate.descendants(job.outputs)

    assert NamePattern(estate.namespace_of(job), job.name) in given.causes
    assert {NamePattern(*estate.datasets[each].full_name) for each in job.outputs} < set(
        given.causes
    )
    assert set(given.impact) == {NamePattern(*estate.datasets[each].full_name) for each in below}
    assert given.owners == (estate.teams[job.team].name,)
    is_page = estate.is_critical({*below, *job.outputs})
    assert given.expect == ("page" if is_page else "ticket")


def test_an_upgrade_breaks_every_third_job_of_a_pool(estate, day):
    """Name the version as the cause, with the jobs that it broke; the platform owns the fix."""
    given, own = fault(day, "spark_upgrade"), injected(day, "spark_upgrade")
    broken = [estate.jobs[each] for each in own.failing]

    assert len({estate.jobs[each].pool for each in own.jobs}) == 1
    assert len(broken) >= 2
    assert set(own.failing) < set(own.jobs)
    assert given.owners[0] == PLATFORM
    assert NamePattern("", f"*{own.variant}*") in given.causes


def test_an_outage_is_alone(day):
    """Keep other faults away for a cycle before it and after it."""
    outage = fault(day, "collector_outage")
    near = [
        each
        for each in day.truth.faults
        if each.kind not in {"collector_outage", "holiday"}
        and each.starts_at < outage.ends_at + 40 * HOUR
        and outage.starts_at < each.ends_at + 40 * HOUR
    ]
    assert near == []
    assert outage.owners == (PLATFORM,)


def test_a_deployment_is_announced(estate, day):
    """Open a window of the policy for all that waits for it."""
    own = injected(day, "planned_deployment")
    job = estate.jobs[own.jobs[0]]
    affected = {*job.outputs, *estate.descendants(job.outputs)}
    policy = build_policy(estate, day.suppressions)
    matched = {each.match for each in policy.suppressions}

    names = {f"{estate.datasets[each].namespace}/{estate.datasets[each].name}" for each in affected}
    assert names <= matched


def test_standing_gaps_are_of_jobs_without_a_listener(estate, day):
    """Leave out jobs that report."""
    for job in estate.jobs:
        name = NamePattern(estate.namespace_of(job), job.name)
        assert (name in day.truth.standing) == (job.reporting != "listener")


def test_a_plan_that_is_too_large_is_rejected():
    """Report which part had no room."""
    small = build_estate(Shape(seed=1, datasets=60, days=4))
    with pytest.raises(ValueError, match="killed_job: no job of the 60 datasets in 4 days"):
        plan_faults(small, 40, ["killed_job"])
