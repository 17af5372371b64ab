"""Logs: JSON lines on standard error, without the values of variables."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_FAILING = """
import structlog
from lineage.process.logs import log_to_stderr
{configure}
log = structlog.get_logger()
log.info("quiet")
password = "hunter2"
def connect(url):
    raise ValueError("no such host")
try:
    connect("postgresql://me:hunter2@db")
except ValueError:
    log.exception("not_connected", host="db\\nspoofed")
"""


def _run(configure):
    code = _FAILING.format(configure=configure)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_a_traceback_has_no_values_of_variables(level):
    """Check each level; a message from outside stays one line."""
    done = _run(f'log_to_stderr("{level}")')

    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.stdout == ""
    assert [one["event"] for one in lines] == ["quiet"] * (level == "info") + ["not_connected"]
    assert "ValueError: no such host" in lines[-1]["exception"]
    assert "hunter2" not in done.stderr


def test_the_default_of_structlog_would_print_them():
    """Run the mutant, in which the test above fails."""
    assert "hunter2" in _run("").stdout


def test_each_command_that_logs_sets_the_renderer():
    """Configure the renderer: a command that only sets a level would keep structlog's own."""
    folders = (ROOT / "service" / "cli" / "commands", ROOT / "lab" / "commands")
    texts = {
        path.name: path.read_text(encoding="utf-8") for one in folders for path in one.glob("*.py")
    }

    assert [name for name, text in texts.items() if "structlog.configure" in text] == []
    logging = {name for name, text in texts.items() if "log_to_stderr(" in text}
    assert logging >= {"bench.py", "gameday.py", "gameday_live.py", "marquez.py", "ship.py"}
