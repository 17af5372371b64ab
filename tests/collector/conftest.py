"""One collector a module, or one of its own for the test that stops or bends it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.spool import Spool
from tests.collector.running import Collector
from tests.collector.spools import OLD, Hands, Outcomes


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector with a short deadline, shared by tests that leave it as it was."""
    running = Collector(tmp_path_factory.mktemp("collector") / "data", read_deadline_seconds=1)
    yield running.ready()
    running.kill()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Collector]]:
    """Starts collectors over this test's folder, and ends those that still run."""
    started: list[Collector] = []

    def _start(**settings: Any) -> Collector:  # noqa: ANN401 - settings of any kind
        started.append(Collector(tmp_path / "data", **settings))
        return started[-1]

    yield _start
    for running in started:
        running.kill()


@pytest.fixture
def clock():
    return Hands()


@pytest.fixture
def outcomes():
    return Outcomes()


@pytest.fixture
def started(tmp_path, clock, outcomes):
    """Starts spools over one file, and stops each in the end, if a test has not."""
    spools = []

    def start(limits=OLD):
        spool = Spool(tmp_path / "spool.db", limits, clock, outcomes)
        spool.start()
        spools.append(spool)
        return spool

    yield start
    for spool in spools:
        spool.stop()
