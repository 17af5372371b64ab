"""Policy fragment that the command prints, compared with the datasets."""

import pytest

from lab.gameday.live.estate import LIVE_TEAMS, PACE, day_name, policy_fragment
from lab.gameday.policy import policy_text
from lineage.policy import parse_policy
from lineage.policy.resolution import decide_policy, owner_of_job
from lineage.process.clock import SECOND_MICROS
from tests.lab.gameday.live.days import BEGINS, ESTATE

POLICY = parse_policy(policy_text(policy_fragment()))


@pytest.mark.parametrize("dataset", ESTATE.datasets, ids=lambda each: each.name)
def test_each_dataset_has_its_owner(dataset):
    """Give owner, tier and limit; external datasets are sources; none is named alone."""
    decided = decide_policy(POLICY, *dataset.full_name)

    assert (decided.owner, decided.tier) == (LIVE_TEAMS[dataset.team], dataset.declared)
    assert decided.limit_seconds == PACE.limit_seconds
    assert decided.source == dataset.is_source
    assert not decided.is_declared


def test_each_job_is_its_team_s():
    """Match by its namespace."""
    for job in ESTATE.jobs:
        assert owner_of_job(POLICY, LIVE_TEAMS[job.team], job.name) == LIVE_TEAMS[job.team]


def test_no_two_days_share_a_name():
    """Use letters alone, a second apart."""
    assert day_name(BEGINS) != day_name(BEGINS + SECOND_MICROS)
    assert day_name(BEGINS).isalpha()
