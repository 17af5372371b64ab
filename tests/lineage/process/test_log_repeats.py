import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import structlog

from lineage.process.logs import OncePerMinute


@pytest.fixture
def clock():
    """Return the seconds that have passed."""
    return SimpleNamespace(seconds=0.0)


@pytest.fixture
def passed(clock):
    """Return the number of repetitions that an event is logged with; None if it is not."""
    once = OncePerMinute(lambda: clock.seconds)

    def pass_on(level="error", **event):  # noqa: ANN003 - of any event
        try:
            return once(None, level, {"event": "task_failed", **event}).get("repeated", 0)
        except structlog.DropEvent:
            return None

    return pass_on


def test_a_repeated_failure_is_logged_once_a_minute_with_a_count(passed, clock):
    assert passed() == 0
    assert [passed() for _ in range(480)] == [None] * 480
    clock.seconds = 60

    assert passed() == 480
    assert passed() is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"failures": 1}, {"failures": 2}),
        ({"error": "port 5432 timed out after 3 s"}, {"error": "port 5433 timed out after 11 s"}),
        ({"exc_info": ValueError("a")}, {"exc_info": ValueError("b")}),
    ],
)
def test_failures_that_differ_in_numbers_or_values_only_are_alike(passed, first, second):
    assert passed(**first) == 0
    assert passed(**second) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"task": "daily"}, {"task": "edges"}),
        ({"error": "no route"}, {"error": "no answer"}),
        ({"exc_info": ValueError("a")}, {"exc_info": TypeError("a")}),
    ],
)
def test_other_failures_are_logged_at_once(passed, first, second):
    assert passed(**first) == passed(**second) == 0


def test_other_events_are_always_logged(passed):
    assert passed("info") == passed("info") == 0


@pytest.mark.parametrize("output", ["/dev/full", "closed"])
def test_an_unwritable_log_stops_no_process(output):
    """Use a full disk, and a pipe that nobody reads."""
    code = (
        "import structlog; from lineage.process.logs import log_to_stderr\n"
        "log_to_stderr(); log = structlog.get_logger()\n"
        "for n in range(3000): log.info('filling', text='x' * n)\n"
        "print('worked')"
    )
    stderr = open("/dev/full", "wb") if output != "closed" else None  # noqa: PTH123, SIM115
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=stderr or subprocess.PIPE,
        text=True,
    )
    if stderr is None:
        process.stderr.close()
    assert process.stdout.read() == "worked\n"
    process.wait()
    if stderr is not None:
        stderr.close()


def test_lines_are_json():
    code = (
        "import structlog; from lineage.process.logs import log_to_stderr\n"
        "log_to_stderr(); structlog.get_logger().warning('trouble', name='a\\nb')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    line = json.loads(done.stderr)
    assert (line["event"], line["name"], line["level"]) == ("trouble", "a\nb", "warning")
