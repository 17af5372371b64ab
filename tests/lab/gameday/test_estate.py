"""Estate from a seed."""

import msgspec
import pytest

from lab.gameday.estate import Shape, build_estate
from lab.gameday.policy import build_policy, policy_text
from lineage.policy import reading
from lineage.policy.checks import problems
from lineage.states import CRITICAL, IMPORTANT, OPTIONAL, TIERS

SMALL = Shape(seed=1, datasets=300, days=30)


@pytest.fixture(scope="module")
def estate():
    return build_estate(SMALL)


def test_the_seed_is_the_estate(estate):
    """Generate the same bytes for the same seed, and another estate for another one."""
    encode = msgspec.json.encode
    assert encode(build_estate(SMALL)) == encode(estate)
    assert encode(build_estate(msgspec.structs.replace(SMALL, seed=2))) != encode(estate)


def test_an_estate_has_the_requested_number_of_datasets(estate):
    """Give each a name of its own and one job that writes it."""
    assert len(estate.datasets) == SMALL.datasets
    assert len({each.full_name for each in estate.datasets}) == SMALL.datasets
    assert sorted(estate.writer_of) == list(range(SMALL.datasets))


def test_no_dataset_is_derived_from_itself(estate):
    """Place inputs in lower layers: the graph has no cycle."""
    for job in estate.jobs:
        below = max((estate.datasets[each].layer for each in job.inputs), default=-1)
        scheduled = [each for each in job.outputs if job.cadence != "adhoc"]
        assert all(estate.datasets[each].layer == below + 1 for each in scheduled)
    assert not any(each.number in estate.descendants([each.number]) for each in estate.datasets)


def test_descendants_are_all_downstream_datasets(estate):
    """Compare with a walk of the test's own, by ancestors."""
    made_of = {number: set(job.inputs) for number, job in estate.writer_of.items()}
    scheduled = {n for n, job in estate.writer_of.items() if job.cadence != "adhoc"}

    def ancestors(number):
        found, waiting = set(), [number]
        while waiting:
            fresh = made_of[waiting.pop()] - found
            found |= fresh
            waiting += fresh
        return found

    for source in range(20):
        found = {each for each in scheduled if source in ancestors(each)}
        assert estate.descendants([source]) == found


def test_upstream_of_a_critical_dataset_is_critical(estate):
    """Declare no lower tier upstream, so that each tier equals its inheritance."""
    for dataset in estate.datasets:
        if estate.tiers[dataset.number] != CRITICAL:
            below = [estate.tiers[each] for each in estate.descendants([dataset.number])]
            assert CRITICAL not in below
            assert dataset.declared in {None, IMPORTANT}
    assert set(estate.tiers) == set(TIERS) == {CRITICAL, IMPORTANT, OPTIONAL}


def test_one_job_in_ten_has_no_listener():
    """Let some of those leave an event log, and some nothing."""
    scheduled = [
        each for each in build_estate(Shape(1)).jobs if each.cadence in {"daily", "weekday"}
    ]
    shares = {
        kind: sum(each.reporting == kind for each in scheduled) / len(scheduled)
        for kind in ("log", "nothing")
    }
    assert 0.03 < shares["log"] < 0.07
    assert 0.03 < shares["nothing"] < 0.08


def test_the_policy_reads_back(estate):
    """Write the policy as a file without invalid or unknown parts."""
    policy = build_policy(estate)

    assert reading.parse_policy(policy_text(policy), "lineward.yaml").hash == policy.hash
    assert {each.name for each in policy.owners} == {each.name for each in estate.teams}
    assert list(problems(policy)) == []


@pytest.mark.parametrize("wrong", [{"datasets": 20}, {"days": 1}])
def test_an_invalid_estate_is_rejected(wrong):
    """Report what may be requested."""
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: .* to .*, got"):
        Shape(seed=1, **wrong)
