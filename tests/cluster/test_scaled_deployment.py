"""Run scaled mode whose pipeline is a Deployment: kill its pod, and upgrade all pods under load."""

import os
import sys

import pytest

from tests.cluster.networks import HOSTS
from tests.cluster.posted_runs import Sender, post_run
from tests.faults.comparing import landed
from tests.suite.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.allow_hosts(HOSTS),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make networks and mounts"),
]


@pytest.fixture
def catalog(deployed):
    """Open the catalog of the installation."""
    engine = deployed.open_catalog()
    yield engine
    engine.dispose()


@pytest.fixture
def sender(deployed):
    """Post events until the test ends."""
    started = Sender(deployed)
    yield started
    started.stop()


def test_the_pipeline_goes_on_in_another_pod(deployed, catalog):
    """Kill its pod between two runs: both are in the API, and each event landed once."""
    before, _ = landed(catalog)
    post_run(deployed, "orders", "COMPLETE")
    (pod,) = deployed.pods("pipeline")

    deployed.kill(pod)

    post_run(deployed, "orders", "FAIL")
    deployed.await_pods()
    assert [one.name for one in deployed.pods("pipeline")] != [pod.name]
    assert landed(catalog) == (before + 4, 0)
    assert deployed.restarts() == {}


def test_an_upgrade_of_all_pods_fails_no_post(deployed, catalog, sender):
    """Change a setting of every role while events are posted: each is stored, and lands once."""
    before, _ = landed(catalog)
    until(lambda: len(sender.outcomes) > 10)

    deployed.upgrade("settings.LINEWARD_LEASE_SECONDS=20")

    sender.stop()
    sys.stdout.write(f"{len(sender.outcomes)} posts while all pods were replaced\n")
    assert set(sender.outcomes) == {201}
    expected = (before + len(sender.outcomes), 0)
    until(lambda: landed(catalog) == expected, describe=deployed.describe)
