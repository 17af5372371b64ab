"""Jobs of the demo's shop."""

import sys
from pathlib import Path

from lab.demo import spark
from lab.demo.waiting import Patience
from tests.suite.waiting import is_running, until

_STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print(os.getpid(), flush=True); time.sleep(600)"
)


def test_a_job_that_ignores_its_end_is_killed_and_fails_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(spark, "command", lambda *_, **__: (sys.executable, "-c", _STUBBORN))
    monkeypatch.setattr(spark, "_STOP_SECONDS", 0.2)
    job = spark.ShopJob("clicks", tmp_path, transport=None)
    job.start()
    pid = int(until(lambda: job.log.read_text("utf-8")))

    job.stop(Patience())

    assert not is_running(pid)
