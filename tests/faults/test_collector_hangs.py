"""Check a collector's worker that hangs: another one answers, and no connection is rejected."""

import os
import signal
from pathlib import Path

import pytest

from tests.collector.bodies import new_body
from tests.collector.running import Collector
from tests.suite.waiting import is_running, until

pytestmark = pytest.mark.faults

_PROMPT_PARENT = Path(__file__).with_name("prompt_parent.py")


def test_a_worker_that_hangs_is_replaced(tmp_path):
    """Stop the worker by SIGSTOP: the kernel accepts connections, and the next worker answers."""
    collector = Collector(tmp_path / "data", program=(str(_PROMPT_PARENT),)).ready()
    try:
        until(lambda: collector.log().count("collector_ready") == 1)
        worker = collector.worker()
        os.kill(worker, signal.SIGSTOP)
        until(lambda: not is_running(worker), pause=0.5)

        assert collector.post(new_body()).status_code == 201
        assert collector.worker() not in {0, worker}
        assert "did not answer for " in collector.log()
    finally:
        collector.kill()
