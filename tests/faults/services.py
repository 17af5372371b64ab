"""Pair of real services on one catalog in PostgreSQL; the leader is paused and killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from sqlalchemy import Engine, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import system_clock, to_micros
from tests.alerts.detection.catalog_builder import MIDNIGHT, CatalogBuilder
from tests.service.commandline import environ
from tests.suite.waiting import until

_NAMES = ("one", "other")
_LEADER = """
    SELECT holder FROM lease
    WHERE name = 'service' AND expires_at > extract(epoch FROM clock_timestamp()) * 1000000
"""
_MICROS = 1_000_000


class Services:
    """Pair of services, of which each can be paused, woken and killed.

    Attributes:
        builder: writes the catalog that they watch; it is evaluated at each look for the leader.
    """

    def __init__(self, engine: Engine, folder: Path, policy: str, **settings: str) -> None:
        """Start both.

        Args:
            engine: of the catalog.
            folder: of data, logs and the policy.
            policy: text of its file.
            settings: variables of both.
        """
        self._engine, self._folder = engine, folder
        self.builder = CatalogBuilder(engine)
        (folder / "lineward.yaml").write_text(policy)
        self._settings = settings | {
            "LINEWARD_CATALOG_URL": engine.url.render_as_string(hide_password=False),
            "LINEWARD_POLICY": str(folder / "lineward.yaml"),
            "LINEWARD_LEASE_SECONDS": "3",
            "LINEWARD_SERVICE_PORT": "0",
            "LINEWARD_METRICS_PORT": "0",
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in _NAMES:
            self.start(name)

    def start(self, name: str) -> None:
        """Start a service of this name."""
        data = self._folder / name
        data.mkdir(exist_ok=True)
        own = {"LINEWARD_DATA_DIR": str(data), "LINEWARD_REPLICA": name}
        with (self._folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", "service"]
            given = {"env": environ(**self._settings, **own), "stdout": log, "stderr": log}
            self._processes[name] = subprocess.Popen(command, **given)  # type: ignore[call-overload]

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a service, and wait for its end where it is SIGKILL."""
        os.kill(self._processes[name].pid, number)
        if number == signal.SIGKILL:
            self._processes[name].wait(30)

    def leader(self, *, but: tuple[str, ...] = ()) -> str | None:
        """Return the leader, unless it is one of these."""
        self.evaluate()
        with self._engine.connect() as connection:
            row = connection.execute(text(_LEADER)).one_or_none()
        return None if row is None or row.holder in but else str(row.holder)

    def evaluate(self) -> None:
        """Note an evaluation of now, as the pipeline does."""
        self.builder.evaluate(seconds_now())

    def fail(self, names: Iterable[str]) -> list[str]:
        """Let the last run of each dataset fail; return the ids of the runs."""
        at, runs = seconds_now(), []
        for name in names:
            runs.append(self.builder.fail(name, at))
            self.builder.say(name, "bad", "job_failed", since=at)
        return runs

    def heal(self, names: Iterable[str]) -> None:
        """Have each dataset be written again."""
        table, now = tables.dataset_activity, to_micros(system_clock())
        for name in names:
            self.builder.say(name, "good", since=seconds_now())
            mine = table.update().where(table.c.last_job_name == f"make_{name}")
            with write_transaction(self._engine) as connection:
                connection.execute(mine.values(last_written_at=now))

    def wait(self, condition: Callable[[], object]) -> None:
        """Wait for a condition, and store evaluations meanwhile."""
        until(lambda: self.evaluate() or condition(), describe=self.logs)

    def disturb(
        self,
        taken: Callable[[], int],
        resume: Callable[[], None],
        has_worked: Callable[[], object] | None = None,
    ) -> None:
        """Pause the leader in the middle of a request, and kill the next one in its own.

        Args:
            taken: counts the requests that a server accepted and does not answer.
            resume: lets the server answer, before the first leader wakes.
            has_worked: where passed, the next leader is answered, and killed when this is
        true.
        """
        seen = taken()
        until(lambda: self.leader() and taken() > seen, describe=self.logs)
        first = until(self.leader, describe=self.logs)
        began = time.monotonic()
        self.signal(first, signal.SIGSTOP)
        seen = taken()
        second = until(lambda: self.leader(but=(first,)), describe=self.logs)
        sys.stdout.write(f"{first} paused: {second} leads after {time.monotonic() - began:.1f} s\n")
        if has_worked:
            resume()
        self.wait(has_worked or (lambda: taken() > seen))
        self.signal(second, signal.SIGKILL)
        resume()
        self.signal(first, signal.SIGCONT)
        self.start(second)

    def logs(self) -> str:
        """Return the logs of both."""
        return "\n".join((self._folder / f"{name}.log").read_text()[-3000:] for name in _NAMES)

    def stop(self) -> None:
        """End both."""
        for process in self._processes.values():
            process.kill()
            process.wait(30)


def seconds_now() -> float:
    """Return the time as the builder of the catalog has it."""
    return (to_micros(system_clock()) - MIDNIGHT) / _MICROS
