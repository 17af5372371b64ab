"""Runs the command line as a person does: a process of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from tests.suite.examples import is_long
from tests.suite.forked import ForkingServer

ROOT = Path(__file__).resolve().parents[2]
ANY_PORTS = {f"LINEWARD_{role}_PORT": "0" for role in ("COLLECTOR", "SERVICE", "METRICS")}


def environ(**variables: str) -> dict[str, str]:
    """Return the environment with only these settings of Lineward."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LINEWARD_")}
    return {**kept, "PYTHONPATH": str(ROOT), "TZ": "UTC", **variables}


@cache
def _server() -> ForkingServer:
    return ForkingServer(environ())


def lineward(
    *arguments: str, catalog: Engine | None = None, seconds: float = 60, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `lineward ARGUMENTS` on this catalog, for so many seconds at most.

    `make test` forks the process, and `make nightly` starts a new Python. Another test may have the
    default ports, so that `up` and `demo` take any.
    """
    if arguments and arguments[0] in {"up", "demo"}:
        variables = ANY_PORTS | variables
    if catalog is not None:
        url = catalog.url.render_as_string(hide_password=False)
        variables["LINEWARD_CATALOG_URL"] = url
    if not is_long() and not any(name.startswith("PYTHON") for name in variables):
        return _server().run(arguments, environ(**variables), seconds)
    return subprocess.run(
        [sys.executable, "-m", "service.cli.main", *arguments],
        env=environ(**variables),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def answer(*arguments: str, catalog: Engine) -> Any:  # noqa: ANN401 - as the command prints it
    """Return the JSON that `lineward ARGUMENTS --json` prints."""
    done = lineward(*arguments, "--json", catalog=catalog)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
