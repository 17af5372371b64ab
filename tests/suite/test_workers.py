"""Spreading of tests over workers."""

import pytest


@pytest.mark.xdist_group("e2e")
def test_a_group_has_one_worker(request: pytest.FixtureRequest):
    """Reject workers without `--dist loadgroup`.

    Several real Sparks and kills would run at once. pytest 9.2 with xdist 3.8 loses the groups
    without a message.
    """
    has_workers = hasattr(request.config, "workerinput")

    assert request.node.nodeid.endswith("@e2e") is has_workers
