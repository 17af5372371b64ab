import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.demo import start
from lineage.lake.settings import LakeSettings
from service.errors import RejectedInputError
from service.runtime.settings import Settings
from tests.e2e.demos import Demo
from tests.service.commandline import lineward
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

Start = Callable[..., Demo]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a demo; end all its processes afterwards."""
    started: list[Demo] = []

    def start(*arguments: str) -> Demo:
        started.append(Demo(tmp_path / "t", *arguments))
        return started[-1]

    yield start
    for each in started:
        each.kill_all()


def assert_all_states_are_shown(output: str) -> None:
    """Find the SLIs, and each dataset with its reason and owner."""
    for row in (
        ("ref/rates", "bad", "lineage_missing", "platform", "critical"),
        ("mart/churn", "bad", "job_failed", "marketing", "important"),
        ("mart/stock", "unknown", "ingestion_gap", "warehouse", "important"),
        ("mart/segments", "learning", "marketing"),
    ):
        assert any(all(word in line for word in row) for line in output.splitlines()), output
    for sli in ("coverage", "edge_completeness", "accuracy", "error_rate"):
        assert sli in output


def assert_nothing_is_left(demo: Demo) -> None:
    """Find no process and no file."""
    until(lambda: demo.processes() == [])  # the kernel ends them with a delay
    assert demo.folders() == []


@pytest.mark.nightly(
    short="tests/e2e/test_demo_dashboards.py::test_the_demo_fills_every_panel_and_leaves_nothing"
)
def test_once_shows_all_four_states_and_leaves_nothing(demo: Start):
    """Exit with 0 by itself."""
    process = demo("--once")

    output, _ = process.communicate(timeout=900)

    assert process.returncode == 0, output
    assert_all_states_are_shown(output)
    assert_nothing_is_left(process)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="SIGINT"),
        pytest.param(
            signal.SIGTERM,
            id="SIGTERM",
            marks=pytest.mark.nightly(
                short="tests/e2e/test_demo.py::test_a_stop_in_the_middle_leaves_nothing[SIGINT]"
            ),
        ),
    ],
)
def test_a_stop_in_the_middle_leaves_nothing(demo: Start, number: signal.Signals):
    """Press Ctrl-C while a job runs and the collector hangs: all processes end."""
    process = demo()
    process.read_until("is due at")

    assert process.stop(number) == 130
    assert_nothing_is_left(process)


def test_a_killed_demo_leaves_no_process(demo: Start):
    """Kill it with -9: the kernel ends `up` and the job with it."""
    process = demo()
    process.read_until("rates")
    until(lambda: len(process.processes()) > 4)

    process.kill()
    process.communicate(timeout=60)

    until(lambda: process.processes() == [])


def test_a_port_in_use_is_one_message():
    """Print the variable to set, before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = lineward("demo", LINEWARD_COLLECTOR_PORT=port)

    assert done.returncode == 7
    assert done.stdout == ""
    assert done.stderr == (
        f"lineward: cannot listen on 127.0.0.1:{port} (Address already in use):"
        " set LINEWARD_COLLECTOR_PORT to a free port\n"
    )


def test_a_folder_in_use_is_rejected(tmp_path: Path):
    """Reject it: the demo would mix its shop with existing files, and delete none."""
    (tmp_path / "mine").touch()

    done = lineward("demo", "--data-dir", str(tmp_path))

    assert done.returncode == 6
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_real_lake_is_left_alone():
    """Reject it: events of the shop would be stored among the real ones."""
    real = Settings(lake_settings=LakeSettings(url="s3://real/lake"))

    with pytest.raises(RejectedInputError, match="LINEWARD_LAKE_URL"):
        start._of_a_demo(real)  # noqa: SLF001 - what the command asks first


def test_a_real_catalog_is_left_alone(tmp_path: Path):
    """Reject it: the demo's shop would be stored beside real datasets."""
    done = lineward("demo", LINEWARD_CATALOG_URL=f"sqlite:///{tmp_path}/real.db")

    assert done.returncode == 6
    assert "unset LINEWARD_CATALOG_URL" in done.stderr
    assert list(tmp_path.iterdir()) == []
