"""End of the pipeline's process after a failed start."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.waiting import until

# Stand-in: Spark's JVM hangs, as on a full disk, while the role fails in some way.
_SCRIPT = """
import sys
from threading import Event
from slis import __main__ as role
role.open_session = lambda **_: Event().wait()
role.await_catalog = lambda *_: True
def run(*_):
    {end}
role._run = run
sys.exit(role.main())
"""


@pytest.mark.parametrize(
    ("end", "code"), [("raise OSError(28, 'No space left on device')", 1), ("return 2", 2)]
)
def test_a_start_that_fails_does_not_wait_for_spark(tmp_path: Path, end: str, code: int):
    """End with the exit code of the failure, so that the supervisor starts the role again."""
    argv = [sys.executable, "-c", _SCRIPT.format(end=end)]
    environment = {"LINEWARD_DATA_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE) as process:
        try:
            until(lambda: process.poll() is not None, seconds=60)
        finally:
            process.kill()

    assert process.returncode == code
