"""Roles under measurement: a service, and a pipeline with 1,000 events a second."""

import http.client
import itertools
import re
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import insert

from lab.bench import estate_rows
from lineage.catalog import tables
from lineage.catalog.engine import open_catalog, write_transaction
from lineage.catalog.reader import open_reader
from lineage.names.keys import key
from lineage.process.clock import to_micros
from service.runtime.child import Child, RoleCommand
from service.runtime.roles import role_commands, role_environment
from service.runtime.settings import Settings

EVENTS_A_SECOND: Final = 1_000
_PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.2
_LONG: Final = 3_600  # of the sender: it is stopped
_PROC = Path("/proc")


class Roles:
    """Processes over one data folder; `close` ends them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._commands = {each.role: each for each in role_commands(settings)}
        self._started: list[Child] = []
        self._to = http.client.HTTPConnection(settings.host, settings.service_port, timeout=60)

    def start_service(self) -> None:
        """Start it, and wait until it answers."""
        self._start(self._commands["service"])
        wait_until(self._answers, "the service did not answer")

    def start_events(self) -> None:
        """Start the pipeline and its sender; wait until the first batch has landed."""
        spool = str(self._settings.spool)
        sender = ["-m", "lab.bench.feed", spool, str(EVENTS_A_SECOND), str(_LONG)]
        self._start(RoleCommand(role="sender", argv=(sys.executable, *sender)))
        self._start(self._commands["pipeline"])
        wait_until(self._has_landed, "no event landed")
        self._to.close()  # the service may have, meanwhile; the next query opens it again

    def ask(self, path: str) -> bytes:
        """Return the response.

        Raises:
            RuntimeError: it is none.
        """
        self._to.request("GET", path)
        answer = self._to.getresponse()
        body = answer.read()
        if answer.status != http.client.OK:
            message = f"{path}: {answer.status} {body[:200].decode()}"
            raise RuntimeError(message)
        return body

    def service_mib(self) -> float:
        """Return the memory of the service, resident."""
        status = (_PROC / str(self._started[0].pid) / "status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        if found is None:
            message = "the service's status names no VmRSS"
            raise RuntimeError(message)
        return round(int(found[1]) / 1_024, 1)

    def close(self) -> None:
        """End them, the last first."""
        self._to.close()
        for child in reversed(self._started):
            child.end()

    def _start(self, command: RoleCommand) -> None:
        """Start a role as `lineward up` does."""
        log = self._settings.data_dir / f"{command.role}.log"
        child = Child(command, role_environment(self._settings), log)
        child.start()
        self._started.append(child)

    def _answers(self) -> bool:
        try:
            self.ask("/livez")
        except OSError:
            self._to.close()
            return False
        return True

    def _has_landed(self) -> bool:
        with open_reader(self._settings.catalog) as reader:
            return bool(reader.rows("SELECT 1 FROM batch LIMIT 1"))


def wait_until(
    condition: Callable[[], bool], trouble: str, seconds: float = _PATIENCE_SECONDS
) -> None:
    """Wait until it holds.

    Raises:
        RuntimeError: it does not for so long.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            message = f"{trouble} within {seconds:.0f} s"
            raise RuntimeError(message)
        time.sleep(_LOOK_SECONDS)


class Markers:
    """Dataset made of the first one each second: the first result that names it shows its age."""

    def __init__(self, settings: Settings) -> None:
        self._engine = open_catalog(settings.catalog)
        self._lock = threading.Lock()
        self._written: dict[bytes, float] = {}
        self._ages: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, name="markers", daemon=True)

    def start(self) -> None:
        """Begin to write them."""
        self._thread.start()

    def look(self, body: bytes) -> None:
        """Note the ages of the writes whose dataset a response names."""
        now = time.monotonic()
        with self._lock:
            named = [name for name in self._written if name in body]
            self._ages += [now - self._written.pop(name) for name in named]

    def end(self, ask: Callable[[], bytes]) -> list[float]:
        """Return seconds from each edge's commit to the first answer that had it.

        No more are written, and the first dataset's lineage is asked for until it has them all.
        """
        self._stop_writing()

        def have_been_seen() -> bool:
            self.look(ask())
            return bool(self._ages) and not self._written

        wait_until(have_been_seen, "lineage did not have all edges")
        return self._ages

    def close(self) -> None:
        """Write no more."""
        self._stop_writing()
        self._engine.dispose()

    def _stop_writing(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _write(self) -> None:
        first = key(estate_rows.NAMESPACE, estate_rows.name_of(0))
        for number in itertools.count():
            name = f"marker-{number}-"
            now = to_micros(datetime.now(UTC))
            seen = {"first_seen_at": now, "last_seen_at": now}
            at = key(estate_rows.NAMESPACE, name)
            of = {"namespace": estate_rows.NAMESPACE, "name": name, "canonical_key": at}
            ends = {"upstream_key": first, "downstream_key": at, "job_key": 1, "runs": 1}
            job = {"job_namespace": "bench", "job_name": "marker"}
            with write_transaction(self._engine) as connection:
                connection.execute(insert(tables.dataset), {"dataset_key": at, **of, **seen})
                connection.execute(insert(tables.edge), {**ends, **job, **seen})
            with self._lock:
                self._written[name.encode()] = time.monotonic()
            if self._stop.wait(1.0):
                return
