"""A demo that has shown all it has, and stays up."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.service.commandline import environ

ANY_PORTS = {f"LINEWARD_{role}_PORT": "0" for role in ("COLLECTOR", "SERVICE", "METRICS")}
_ADDRESS = re.compile(r"^  (pages|metrics|events) +http://127\.0\.0\.1:(\d+)/")


@contextmanager
def shown(*options: str) -> Iterator[dict[str, int]]:
    """The ports of its `pages`, `metrics` and `events`, once it has named them."""
    demo = subprocess.Popen(
        [sys.executable, "-u", "-m", "service.cli", "demo", *options],
        env=environ(**ANY_PORTS),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield _ports(demo)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=300)


def _ports(demo: subprocess.Popen[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    said = []
    for line in demo.stdout or ():
        said.append(line)
        if told := _ADDRESS.match(line):
            found[told[1]] = int(told[2])
        if "events" in found:
            return found
    raise AssertionError("the demo ended early: " + "".join(said))
