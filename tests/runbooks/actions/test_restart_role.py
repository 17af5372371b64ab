import pytest

from runbooks.actions.errors import InvalidActionError, RefusedActionError


def test_only_a_role_that_runs_can_be_restarted(world):
    """Of another the ones that do are named."""
    world.supervisor.running = {"collector": "running", "pipeline": "restarting"}

    plan = world.plan("restart-role", role="pipeline")
    with pytest.raises(InvalidActionError, match="there are collector, pipeline"):
        world.plan("restart-role", role="kafka")

    assert "which is restarting" in plan.does[0]
    assert "25 s" in plan.cautions[0]
    assert world.supervisor.asked == []


def test_without_a_supervisor_it_says_what_to_run_in_kubernetes(world):
    """There each role is a deployment of its own."""
    with pytest.raises(RefusedActionError, match="rollout restart deployment/lineward-pipeline"):
        world.act("restart-role", role="pipeline")
