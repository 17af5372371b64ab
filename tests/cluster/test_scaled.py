"""Run scaled mode on a real API server: a posted event becomes a run, an SLI and a page."""

import os
import uuid

import pytest

from lineage.process.clock import system_clock
from tests.cluster.networks import HOSTS
from tests.cluster.posted_runs import event, post_run
from tests.cluster.scaled_objects import KEY
from tests.faults.comparing import landed, most_files
from tests.suite.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.allow_hosts(HOSTS),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make networks and mounts"),
]

_REQUESTS, _IN_ONE = 4, 1_500  # and events in each


def _states(scaled, table):
    """Return the states of a table's SLIs by their numbers."""
    found = scaled.ask("/api/v1/dataset", dataset=table, dataset_namespace="shop")
    return {one["sli"]: one["state"] for one in found["states"]}


def _await_page(scaled, table):
    """Return the incident of a table's failed job once PagerDuty has its page."""

    def find():
        for _, number in list(scaled.engines.pagerduty.pages):
            found = scaled.ask(f"/api/v1/incidents/{number}")
            if found and f"{table}.daily" in str(found):
                return number
        return None

    number = until(find, describe=scaled.describe)
    assert scaled.engines.pagerduty.pages.count((KEY, number)) == 1
    assert scaled.ask(f"/api/v1/incidents/{number}")["incident"]["severity"] == "page"
    return number


def _leader(scaled, *, but=None):
    """Return the service that leads now, unless it is this one."""
    found = (scaled.ask("/api/v1/status") or {}).get("leader") or {}
    return found.get("replica") if found.get("is_leading") and found["replica"] != but else None


def _post_backlog(scaled):
    """Post requests with more events than the driver lands by itself, which is a thousand."""
    for _ in range(_REQUESTS):
        at, ids = system_clock(), [str(uuid.uuid4()) for _ in range(_IN_ONE)]
        some = b",".join(event("clicks", "COMPLETE", run_id, at) for run_id in ids)
        assert scaled.post(b"[" + some + b"]", "/api/v1/lineage/batch") == 204


def test_a_posted_event_is_a_run_and_a_failed_run_pages_its_owner(scaled):
    """Post to the collectors' Service; ask the API's Service; look at the provider."""
    post_run(scaled, "orders", "COMPLETE")
    post_run(scaled, "orders", "FAIL")

    _await_page(scaled, "orders")
    assert _states(scaled, "orders") == {"M1": "good", "M2": "bad"}
    assert scaled.restarts() == {}


def test_executors_in_pods_read_the_log_and_write_the_lake(scaled):
    """Post more than the driver lands by itself, and again after an executor was killed."""
    engine = scaled.open_catalog()
    for _ in range(2):
        expected = landed(engine)[0] + _REQUESTS * _IN_ONE
        _post_backlog(scaled)
        # Each executor writes a file of its own; the driver would write one.
        until(lambda: most_files(engine) > 1, describe=scaled.describe)
        until(lambda expected=expected: landed(engine)[0] >= expected, describe=scaled.describe)
        lost = scaled.pods("executor")[0]
        scaled.kill(lost)
        until(lambda lost=lost: _has_replaced(scaled, lost), describe=scaled.describe)

    engine.dispose()


def _has_replaced(scaled, lost):
    return lost not in scaled.pods("executor") and scaled.count_ready().get("executor") == 2


def test_the_chart_s_own_test_passes(scaled):
    """Have a pod of the release post an event and read its SLI, by the names of the Services."""
    assert "Succeeded" in scaled.release.test()


def test_another_service_pages_when_the_leader_s_pod_is_gone(scaled):
    """Kill the leading pod: the other one answers at once, leads, and pages once."""
    leader = until(lambda: _leader(scaled), describe=scaled.describe)
    names = {one.name: one for one in scaled.pods("service")}
    post_run(scaled, "orders_by_day", "COMPLETE")

    scaled.kill(names[leader])

    until(lambda: _leader(scaled, but=leader), describe=scaled.describe)
    post_run(scaled, "orders_by_day", "FAIL")
    _await_page(scaled, "orders_by_day")
