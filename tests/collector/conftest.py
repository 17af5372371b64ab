"""Collectors: one for each module, or one for a test that stops or changes it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.spool import Spool
from tests.collector.running import Collector
from tests.collector.spools import OLD, Hands, Outcomes


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Start a collector with a short deadline, shared by tests that do not change it."""
    running = Collector(tmp_path_factory.mktemp("collector") / "data", read_deadline_seconds=1)
    yield running.ready()
    running.kill()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Collector]]:
    """Return a function that starts collectors over this test's folder; end them afterwards."""
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
    """Return a function that starts spools over one file; stop them afterwards."""
    spools = []

    def start(limits=OLD):
        spool = Spool(tmp_path / "spool.db", limits, clock, outcomes)
        spool.start()
        spools.append(spool)
        return spool

    yield start
    for spool in spools:
        spool.stop()
