"""A real `lineward up`, and real Spark jobs beside it: processes of their own."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from service.demo.spark import command, environment, file, listener_conf
from tests.e2e.kinds import run_job
from tests.e2e.running import Up
from tests.service.waiting import until

JOBS = Path(__file__).with_name("jobs")


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """A `lineward up` that takes events."""
    running = Up(tmp_path)
    try:
        until(running.accepts, seconds=60)
        yield running
    finally:
        running.stop()


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Orders and countries have landed."""
    lake = tmp_path / "lake"
    for name, rows in {
        "landing/orders": "id,country\n1,de\n2,fr\n",
        "ref/countries": "country,name\nde,Germany\nfr,France\n",
    }.items():
        (lake / name).mkdir(parents=True)
        (lake / name / "part.csv").write_text(rows)
    return lake


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `jobs/kinds.py`, run with its listener: `logs` and `events.jsonl` in it."""
    folder = tmp_path_factory.mktemp("kinds")
    run_job("kinds", folder, listener_conf(file(folder / "events.jsonl"), namespace="kinds"))
    return folder


@pytest.fixture(scope="session")
def ran_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without a listener, its log one compressed file."""
    folder = tmp_path_factory.mktemp("alone")
    settings = {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "true"}
    run_job("kinds", folder, settings)
    return folder


@pytest.fixture
def submit() -> Iterator[Callable[[str, Path, Mapping[str, str]], subprocess.Popen[bytes]]]:
    """Starts a job of `tests/e2e/jobs`: `submit(name, lake, conf)`; its log is `LAKE/NAME.log`."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, lake: Path, conf: Mapping[str, str]) -> subprocess.Popen[bytes]:
        argv = command(JOBS / f"{name}.py", str(lake), conf=conf, scratch=lake)
        with (lake / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                argv, env=environment(), stdout=log, stderr=log, start_new_session=True
            )
        started.append(process)
        return process

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        process.wait()
