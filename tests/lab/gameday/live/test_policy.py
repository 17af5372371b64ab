"""Policy fragment that the command prints, compared with the datasets."""

import pytest

from lab.gameday.live.estate import PACE, TEAMS, day_of, policy_fragment
from lab.gameday.policy import text_of
from lineage.policy import parse
from lineage.policy.resolution import owner_of_job, resolve
from lineage.process.clock import SECOND_MICROS
from tests.lab.gameday.live.days import BEGINS, ESTATE

POLICY = parse(text_of(policy_fragment()))


@pytest.mark.parametrize("dataset", ESTATE.datasets, ids=lambda each: each.name)
def test_each_dataset_has_its_owner(dataset):
    """Give owner, tier and limit; external datasets are sources; none is named alone."""
    decided = resolve(POLICY, *dataset.full_name)

    assert (decided.owner, decided.tier) == (TEAMS[dataset.team], dataset.declared)
    assert decided.limit_seconds == PACE.limit_seconds
    assert decided.source == dataset.is_source
    assert not decided.is_declared


def test_each_job_is_its_team_s():
    """Match by its namespace."""
    for job in ESTATE.jobs:
        assert owner_of_job(POLICY, TEAMS[job.team], job.name) == TEAMS[job.team]


def test_no_two_days_share_a_name():
    """Use letters alone, a second apart."""
    assert day_of(BEGINS) != day_of(BEGINS + SECOND_MICROS)
    assert day_of(BEGINS).isalpha()
