"""Collectors with their shippers, as in the pods of the chart, and a sender with a ledger."""

import subprocess
import sys
import time
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path

from collector.shipper.position import read_position
from lineage.process.clock import system_clock
from slis.made_up_events import make_events
from tests.collector.running import ROOT, Collector
from tests.service.commandline import environ

_AGO = timedelta(days=1)  # young enough that retention deletes nothing that a test compares
_MOST_EVENTS = 1_000_000
_POSTED = 100  # events in one request


class Pod:
    """Collector and shipper; each can be killed, and starts again on the same spool.

    Attributes:
        folder: of the spool.
        port: of the collector, the same after each start.
        is_up: whether the collector runs.
    """

    def __init__(self, folder: Path, log_url: str, **settings: object) -> None:
        """Start both.

        Args:
            folder: of the spool; the shipper has its name.
            log_url: of the topic.
            settings: of the collector, `LINEWARD_COLLECTOR_…` in small letters.
        """
        self.folder, self._settings = folder, settings
        self._variables = {"LINEWARD_LOG": log_url, "LINEWARD_LOG_COLLECTOR": folder.name}
        self.is_up = False
        self.port = 0
        self.start()
        self.start_shipper()

    def start(self) -> None:
        """Start the collector, on the same port as before."""
        named = [f"{name}={value}" for name, value in self._variables.items()]
        before = ("env", *named)
        given = {"before": before, "port": self.port, **self._settings}
        self._collector = Collector(self.folder, **given).ready()  # type: ignore[arg-type]
        self.port = self._collector.port
        self.is_up = True

    def start_shipper(self) -> None:
        """Start the shipper."""
        own = {"LINEWARD_DATA_DIR": str(self.folder), "LINEWARD_LOG_PORT": "0"}
        log = self.folder.with_name(f"{self.folder.name}-shipper.log")
        with log.open("ab") as output:
            self._shipper = subprocess.Popen(
                [sys.executable, "-m", "collector.shipper"],
                cwd=ROOT,
                env=environ(**self._variables, **own),
                stdout=output,
                stderr=output,
            )

    def kill(self) -> None:
        """End the collector with -9, parent and worker."""
        self.is_up = False
        self._collector.kill()

    def kill_shipper(self) -> None:
        """End the shipper with -9."""
        self._shipper.kill()
        self._shipper.wait(30)

    def post(self, bodies: list[bytes]) -> None:
        """Send events; the answer shows that all are stored."""
        answer = self._collector.post(b"[" + b",".join(bodies) + b"]", "/api/v1/lineage/batch")
        assert answer.status_code == 204, (answer.status_code, answer.text)

    def restart(self) -> None:
        """End both as Kubernetes does, and start them again."""
        self.stop_gently()
        self.start()
        self.start_shipper()

    def stop_gently(self) -> None:
        """End the collector by SIGTERM, then the shipper, which is a sidecar: it ships the rest."""
        assert self._collector.stop() == 0, self._collector.log()
        self.is_up = False
        self._shipper.terminate()
        assert self._shipper.wait(60) == 0

    def stop(self) -> None:
        """End both."""
        self.kill_shipper()
        self.kill()


class Sender:
    """Producer whose events go to the pods in turn.

    Attributes:
        acked: bodies of the events that were acknowledged.
        slow: requests that took longer than a second.
        slowest: seconds of the longest one.
    """

    def __init__(self, pods: list[Pod], seed: int) -> None:
        """Send nothing yet."""
        self.acked: list[bytes] = []
        self.slow, self.slowest = 0, 0.0
        self._pods = pods
        self._left = (
            body
            for _, body in make_events(
                _MOST_EVENTS,
                seed=seed,
                start=system_clock() - _AGO,
                apart=timedelta(milliseconds=10),
            )
        )

    def post(self, count: int) -> None:
        """Post so many events, and store each acknowledged one; each must be."""
        up = cycle([pod for pod in self._pods if pod.is_up])
        left = islice(self._left, count)
        while bodies := list(islice(left, _POSTED)):
            began = time.monotonic()
            next(up).post(bodies)
            took = time.monotonic() - began
            self.slow += took > 1
            self.slowest = max(self.slowest, took)
            self.acked.extend(bodies)


def count_shipped(pods: list[Pod]) -> int:
    """Return how many events of these pods Kafka has acknowledged."""
    positions = [read_position(pod.folder) for pod in pods]
    return sum(position.seq for position in positions if position)


def start_pods(folder: Path, log_url: str, count: int, **settings: object) -> list[Pod]:
    """Start so many pods below the folder, with these settings of collectors."""
    return [Pod(folder / f"collector-{number}", log_url, **settings) for number in range(count)]
