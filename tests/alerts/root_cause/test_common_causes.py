"""Attributes that failing jobs share, counted in failing and good jobs, tested against chance."""

import pytest

from alerts.root_cause.common_causes import FailingJob, find_common_causes, fisher_exact_p

OLD, NEW = {"spark": "4.2.0"}, {"spark": "4.3.1"}


def _failing(count, now=NEW, before=OLD):
    return [FailingJob(number, now, before) for number in range(count)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    # By hand: C(3,3) / C(6,3); all of three with one of three; what everybody has.
    [((3, 3, 0, 3), 1 / 20), ((3, 3, 1, 3), 4 / 20), ((3, 3, 3, 3), 1.0), ((0, 3, 0, 3), 1.0)],
)
def test_the_exact_test_is_fisher_s(counts, expected):
    """Compare with small tables counted by hand."""
    assert fisher_exact_p(*counts) == pytest.approx(expected)


def test_invalid_counts_are_rejected():
    """Reject more jobs with an attribute than there are jobs."""
    with pytest.raises(ValueError, match="4 of 3"):
        fisher_exact_p(4, 3, 0, 1)


def test_an_upgrade_that_breaks_every_third_job_is_the_cause():
    """Name the upgrade: twenty jobs are good with it, and seventy have not run since."""
    (found,) = find_common_causes(_failing(10), [NEW] * 20 + [OLD] * 70)

    assert found.description == (
        "spark 4.3.1 (was 4.2.0): 10 of 10 failing jobs have it, and 20 of 90 good jobs"
    )
    assert found.job_keys == frozenset(range(10))


def test_an_attribute_of_all_jobs_is_no_cause():
    """Name nothing: the failing jobs were good with the same version."""
    assert find_common_causes(_failing(10, before=NEW), [NEW] * 90) == ()


def test_an_attribute_as_frequent_in_good_jobs_is_no_cause():
    """Name nothing: most jobs are good with the new version."""
    assert find_common_causes(_failing(3), [NEW] * 90) == ()


@pytest.mark.parametrize(("others", "is_cause"), [(5, False), (10, False), (20, True)])
def test_the_fewest_failing_jobs_depend_on_the_number_of_good_jobs(others, is_cause):
    """Expect chance for two of two among 12 (one in 66), and a cause among 22 (one in 231)."""
    assert bool(find_common_causes(_failing(2), [OLD] * others)) is is_cause
    assert find_common_causes(_failing(1), [OLD] * 10_000) == ()


def test_the_least_likely_of_several_is_named():
    """Name Spark, since some of the good jobs have the new listener too."""
    both = NEW | {"OpenLineage listener": "1.52"}
    was = OLD | {"OpenLineage listener": "1.51"}
    good = [OLD | {"OpenLineage listener": "1.52"}] * 30 + [was] * 60

    (found,) = find_common_causes(_failing(6, both, was), good)

    assert found.name == "spark 4.3.1"


def test_two_upgrades_in_one_night_are_two_causes():
    """Name both: the failing jobs of one do not hide those of the other."""
    other = {"spark": "3.5.9"}
    third = [FailingJob(number, other, OLD) for number in (10, 11)]

    first, second = find_common_causes([*_failing(4), *third], [OLD] * 90)

    assert (first.name, second.name) == ("spark 4.3.1", "spark 3.5.9")
    assert (second.job_keys, second.failing) == ({10, 11}, 2)


def test_many_changes_at_once_need_stronger_evidence():
    """Divide the allowed probability by the number of settings that changed together."""
    was, now = ({str(name): value for name in range(3)} for value in ("old", "new"))

    assert find_common_causes(_failing(2), [OLD] * 20)
    assert find_common_causes(_failing(2, now, was), [was] * 20) == ()


def test_a_job_without_a_good_run_is_ignored():
    """Name nothing: without a good run, no change is known."""
    assert find_common_causes(_failing(10, before=None), [OLD] * 90) == ()


def test_one_failing_job_is_enough_for_a_rollout():
    """Name a rollout with which three teams' jobs are good; one job's own change is no evidence."""
    good = [NEW] * 3 + [OLD] * 997

    (found,) = find_common_causes(_failing(1), good, {("spark", "4.3.1")})

    assert (found.is_rollout, found.job_keys) == (True, {0})
    assert find_common_causes(_failing(1), good) == ()
    assert find_common_causes(_failing(1), good, {("listener", "1.53")}) == ()


def test_one_job_is_enough_beside_some_that_fail_for_other_reasons():
    """Fail five of 700 jobs with what they had before, beside a good job with the new version."""
    failing = [*_failing(1), *(FailingJob(number, OLD, OLD) for number in range(1, 6))]
    good = [NEW] + [OLD] * 694

    (found,) = find_common_causes(failing, good, {("spark", "4.3.1")})

    assert found.job_keys == {0}
    assert 0.01 < found.chance < 0.02
    assert find_common_causes(failing, good) == ()


def test_one_failing_job_among_many_good_ones_is_no_cause():
    """Name nothing: of fifty jobs with the new version, only one fails."""
    good = [NEW] * 49 + [OLD] * 951

    assert find_common_causes(_failing(1), good, {("spark", "4.3.1")}) == ()


def test_a_notified_cause_is_kept_while_a_job_fails_with_it():
    """Keep it while a job fails with it, although others are good with it."""
    good = [NEW] * 500 + [OLD] * 500

    (found,) = find_common_causes(_failing(1), good, notified={"spark 4.3.1"})

    assert found.description == (
        "spark 4.3.1 (was 4.2.0): 1 of 1 failing jobs have it, and 500 of 1000 good jobs"
    )
    assert find_common_causes(_failing(1, NEW, NEW), good, notified={"spark 4.3.1"}) == ()
