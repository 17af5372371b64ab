"""Game day on the real clock, set up as its command prints, with a `lineward up` that notifies."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import yaml

from tests.e2e.running import Up, accepting
from tests.service.commandline import environ, lineward
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

# Owners of Lineward itself are no part of the game day's settings.
_PLATFORM = {"name": "platform", "slack": "#platform"}


class Staging(msgspec.Struct, frozen=True):
    """Installation that notifies the Slack of a game day, which is to listen at `listen`."""

    up: Up
    service: str
    listen: str
    policy: Path

    def play(
        self, *arguments: str, seconds: float, json: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run `lineward gameday live ARGUMENTS` to its end; its progress goes to stderr."""
        places = ("--against", self.up.collector, "--service", self.service)
        command = [sys.executable, "-m", "service.cli.main", "gameday", "live", *places]
        more = ("--json",) if json else ()
        return subprocess.run(
            [*command, "--listen", self.listen, *more, *arguments],
            env=environ(),
            stdout=subprocess.PIPE,
            text=True,
            timeout=seconds,
            check=False,
        )


@contextmanager
def staging(folder: Path, period: str = "12", **settings: str) -> Iterator[Staging]:
    """Start a Lineward that accepts events and queries, and stop it in the end.

    Args:
        folder: of its data and its policy.
        period: seconds from one write of a source of the game day to the next.
        settings: variables of its environment.
    """
    policy = folder / "lineward.yaml"
    printed = yaml.safe_load(lineward("gameday", "policy", "--period", period).stdout)
    printed["owners"].append(_PLATFORM)
    policy.write_text(yaml.safe_dump(printed), encoding="utf-8")
    (folder / "token").write_text("of nobody")
    listen = f"127.0.0.1:{free_port()}"
    settings = {
        "LINEWARD_POLICY": str(policy),
        "LINEWARD_DELIVERY_SLACK_URL": f"http://{listen}/api/",
        "LINEWARD_DELIVERY_SLACK_TOKEN_FILE": str(folder / "token"),
    } | settings
    with accepting(folder, **settings) as up:
        service = f"http://127.0.0.1:{up.ports['SERVICE']}"
        until(lambda: _answers(service))
        yield Staging(up, service, listen, policy)


def _answers(service: str) -> bool:
    """Return whether the service has a catalog and returns its content."""
    try:
        return CLIENT.get(f"{service}/api/v1/datasets", timeout=5).is_success
    except httpx.TransportError:
        return False
