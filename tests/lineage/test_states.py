from decimal import Decimal

from lineage.policy.objectives import Objectives
from lineage.states import COVERAGE, INGESTION_LAG, MISSING_PROVENANCE, SLIS, run_state


def test_a_failure_outlives_the_complete_that_follows_it():
    """Keep FAIL: the Spark listener sends COMPLETE 13 ms later for the same run."""
    assert run_state(started_at=1, completed_at=3, failed_at=2) == "FAIL"


def test_the_state_of_a_run_follows_its_events():
    """Prefer FAIL, then COMPLETE, RUNNING, OTHER."""
    assert run_state(started_at=1, completed_at=2, failed_at=None) == "COMPLETE"
    assert run_state(started_at=None, completed_at=2, failed_at=None) == "COMPLETE"
    assert run_state(started_at=1, completed_at=None, failed_at=None) == "RUNNING"
    assert run_state(started_at=None, completed_at=None, failed_at=None) == "OTHER"


def test_objectives_are_exact_and_by_tier():
    """Use decimals: a float would show 0.99 as 0.98999.

    An SLI without tiers applies to all of them.
    """
    assert COVERAGE.objective("important") == Decimal("0.80")
    assert INGESTION_LAG.objective("all") == Decimal("0.99")
    assert MISSING_PROVENANCE.objective("optional") is None


def test_a_policy_may_set_the_objective_of_each_sli():
    """Find a field of its name for each, and no other."""
    assert Objectives.__struct_fields__ == tuple(sli.name for sli in SLIS)
