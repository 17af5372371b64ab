"""Check `lineward up` on a machine whose cores all have other work: no role is restarted."""

import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tests.collector.bodies import new_body
from tests.e2e.running import accepting
from tests.faults.test_up_disk import landed
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_BUSY = 4


@pytest.mark.nightly(
    short="tests/service/runtime/test_supervised_role.py::test_each_restart_doubles_the_time_up_to_eight_times"
)
def test_a_starved_machine_is_slow_and_restarts_no_role(tmp_path):
    """Run four loops without a pause beside it; times are printed, and nothing depends on them."""
    with ExitStack() as stack:
        for _ in range(_BUSY):
            loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        started = time.monotonic()
        up = stack.enter_context(accepting(tmp_path))
        ready = time.monotonic()
        url = f"{up.collector}/api/v1/lineage"
        for _ in range(50):
            assert CLIENT.post(url, content=new_body(), timeout=60).is_success
        until(lambda: landed(up) >= 50, pause=0.5)
        after = time.monotonic()

        print(f"ready after {ready - started:.1f} s, landed {after - ready:.1f} s later")  # noqa: T201
        roles = up.ask("status")["roles"]
        assert {role["role"]: role["restarts"] for role in roles} == dict.fromkeys(
            ("collector", "service", "pipeline"), 0
        )
