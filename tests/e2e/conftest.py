"""Real `lineward up`, and real Spark jobs beside it: processes of their own."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from lab.demo.spark import command, file, listener_conf, spark_environment
from tests.e2e.kinds import run_job
from tests.e2e.running import Up, accepting

_JOBS = Path(__file__).with_name("jobs")
_JOB_SECONDS = 300
Submit = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """Start a `lineward up` that accepts events."""
    with accepting(tmp_path) as running:
        yield running


@pytest.fixture
def landing() -> dict[str, str]:
    """Write orders and countries, the input files, as CSV by folder."""
    return {
        "landing/orders": "id,country\n1,de\n2,fr\n",
        "ref/countries": "country,name\nde,Germany\nfr,France\n",
    }


@pytest.fixture
def lake(tmp_path: Path, landing: dict[str, str]) -> Path:
    """Create a lake with these files."""
    lake = tmp_path / "lake"
    for name, rows in landing.items():
        (lake / name).mkdir(parents=True)
        (lake / name / "part.csv").write_text(rows)
    return lake


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `jobs/kinds.py` with its listener; return its folder with `logs` and `events.jsonl`."""
    folder = tmp_path_factory.mktemp("kinds")
    run_job("kinds", folder, listener_conf(file(folder / "events.jsonl"), namespace="kinds"))
    return folder


@pytest.fixture(scope="session")
def ran_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run it without a listener, its log one compressed file."""
    folder = tmp_path_factory.mktemp("alone")
    settings = {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "true"}
    run_job("kinds", folder, settings)
    return folder


@pytest.fixture
def unheard(request: pytest.FixtureRequest) -> Path:
    """Return the logs of that job, by the name of its fixture; no test posts its events."""
    return Path(request.getfixturevalue(request.param)) / "logs"


@pytest.fixture
def submit() -> Iterator[Submit]:
    """Start a job of `tests/e2e/jobs`: `submit(name, lake, conf)`; its log is `LAKE/NAME.log`."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        name: str, lake: Path, conf: Mapping[str, str], *arguments: str
    ) -> subprocess.Popen[bytes]:
        argv = command(_JOBS / f"{name}.py", str(lake), *arguments, conf=conf, scratch=lake)
        with (lake / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                argv,
                env=spark_environment(),
                stdout=log,
                stderr=log,
                cwd=lake,
                start_new_session=True,
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


@pytest.fixture
def run(submit: Submit) -> Callable[..., None]:
    """Run a job of `tests/e2e/jobs` to its end, with success."""

    def run(name: str, lake: Path, conf: Mapping[str, str], *arguments: str) -> None:
        job = submit(name, lake, conf, *arguments)
        assert job.wait(_JOB_SECONDS) == 0, (lake / f"{name}.log").read_text()[-3_000:]

    return run
