import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.demo import start
from lineage.lake.settings import LakeSettings
from service.errors import RejectedInputError
from service.runtime.settings import Settings
from tests.e2e.demos import ANY_PORTS, Demo
from tests.service.commandline import lineward
from tests.service.waiting import until

pytestmark = pytest.mark.e2e

Start = Callable[..., Demo]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Start]:
    """Starts a demo; whatever it leaves is ended."""
    started: list[Demo] = []

    def start(*arguments: str) -> Demo:
        started.append(Demo(tmp_path / "t", *arguments))
        return started[-1]

    yield start
    for each in started:
        each.kill_all()


def assert_all_states_are_shown(said: str) -> None:
    """The SLIs; each dataset with its reason and owner."""
    for row in (
        ("ref/rates", "bad", "lineage_missing", "platform", "critical"),
        ("mart/churn", "bad", "job_failed", "marketing", "important"),
        ("mart/stock", "unknown", "ingestion_gap", "warehouse", "important"),
        ("mart/segments", "learning", "marketing"),
    ):
        assert any(all(word in line for word in row) for line in said.splitlines()), said
    for sli in ("coverage", "edge_completeness", "accuracy", "error_rate"):
        assert sli in said


def assert_nothing_is_left(demo: Demo) -> None:
    """No process and no file."""
    until(lambda: demo.processes() == [])  # the kernel ends them when it comes to it
    assert demo.folders() == []


@pytest.mark.nightly(
    short="tests/e2e/test_demo_dashboards.py::test_the_demo_fills_every_panel_and_leaves_nothing"
)
def test_once_shows_all_four_states_and_leaves_nothing(demo: Start):
    """Exit 0 by itself."""
    process = demo("--once")

    said, _ = process.communicate(timeout=900)

    assert process.returncode == 0, said
    assert_all_states_are_shown(said)
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
    """Ctrl-C while a job runs and the collector stands still: all of it ends."""
    process = demo()
    process.read_until("is due at")

    assert process.stop(number) == 130
    assert_nothing_is_left(process)


def test_a_killed_demo_leaves_no_process(demo: Start):
    """-9 has no time to clean up: `up` and the job end with it by the kernel's word."""
    process = demo()
    process.read_until("rates")
    until(lambda: len(process.processes()) > 4)

    process.kill()
    process.communicate(timeout=60)

    until(lambda: process.processes() == [])


def test_a_port_in_use_is_one_sentence():
    """Before anything is started, with the variable to set."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = lineward("demo", **ANY_PORTS | {"LINEWARD_COLLECTOR_PORT": port})

    assert done.returncode == 7
    assert done.stdout == ""
    assert done.stderr == (
        f"lineward: cannot listen on 127.0.0.1:{port} (Address already in use):"
        " set LINEWARD_COLLECTOR_PORT to a free port\n"
    )


def test_a_folder_in_use_is_refused(tmp_path: Path):
    """The demo would mix its shop with what is there, and remove none of it."""
    (tmp_path / "mine").touch()

    done = lineward("demo", "--data-dir", str(tmp_path), **ANY_PORTS)

    assert done.returncode == 6
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_real_lake_is_left_alone():
    """Events of the shop would be stored among the real ones."""
    real = Settings(lake_settings=LakeSettings(url="s3://real/lake"))

    with pytest.raises(RejectedInputError, match="LINEWARD_LAKE_URL"):
        start._of_a_demo(real)  # noqa: SLF001 - what the command asks first


def test_somebodys_catalog_is_left_alone(tmp_path: Path):
    """A shop of play data would stand among the real ones."""
    done = lineward("demo", LINEWARD_CATALOG_URL=f"sqlite:///{tmp_path}/real.db", **ANY_PORTS)

    assert done.returncode == 6
    assert "unset LINEWARD_CATALOG_URL" in done.stderr
    assert list(tmp_path.iterdir()) == []
