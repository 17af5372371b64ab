"""Marquez role as `lineward up` starts it, between a real collector and a fake Marquez."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from service.ingest.marquez.event_identity import valid_core
from tests.collector.running import ROOT, Collector
from tests.fakes.marquez import Event, FakeMarquez
from tests.service.commandline import environ
from tests.suite.waiting import until

_MUTANT = Path(__file__).with_name("mutant.py")


class Role:
    """Process of the role; `mutant` takes one guarantee away."""

    def __init__(
        self, collector: Collector, marquez: FakeMarquez, *, mutant: str | None = None
    ) -> None:
        """Start it, and wait until it has begun."""
        self.folder = collector.folder
        self._environ = environ(
            LINEWARD_DATA_DIR=str(collector.folder),
            LINEWARD_COLLECTOR_PORT=str(collector.port),
            LINEWARD_MARQUEZ_URL=marquez.url,
            LINEWARD_MARQUEZ_PULL_SECONDS="0.1",
            LINEWARD_MARQUEZ_LONGEST_WAIT_SECONDS="0.1",
            LINEWARD_MARQUEZ_PROBE_SECONDS="0.2",
        )
        self._program = [str(_MUTANT), mutant] if mutant else ["-m", "service.ingest.marquez"]
        self.start()

    def start(self) -> None:
        """Start it again."""
        with (self.folder.parent / "role.log").open("ab") as log:
            command = [sys.executable, *self._program]
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self._environ, stdout=log, stderr=log
            )
        until(lambda: self.rows("SELECT 1 FROM marquez_pull"))

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> int:
        """Stop it as an operator would; return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Return rows of the catalog, or none while the table is missing."""
        if not (self.folder / "catalog.db").exists():
            return []
        with closing(sqlite3.connect(self.folder / "catalog.db", timeout=10)) as catalog:
            try:
                return catalog.execute(sql).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    def cursor(self) -> int:
        """Return how far the spool was forwarded."""
        found = self.rows("SELECT seq FROM reader_cursor WHERE reader = 'marquez'")
        return int(str(found[0][0])) if found else 0

    def counted(self, name: str) -> int:
        """Return one of its counters."""
        found = self.rows(f"SELECT value FROM marquez_counter WHERE name = '{name}'")  # noqa: S608
        return int(str(found[0][0])) if found else 0

    def log(self) -> str:
        """Return its output."""
        return (self.folder.parent / "role.log").read_text()


class Reckoning(NamedTuple):
    """Events of both sides, compared by what they say, not by their bytes."""

    missing_there: int  # of ours, in Marquez
    missing_here: int  # of theirs, in the spool
    twice_here: int  # rows of the spool beyond one an event
    sent_back: int  # rows of Marquez beyond one of theirs
    again_there: int  # rows of Marquez beyond one of ours
    out_of_order: int  # runs of ours of which a COMPLETE came before the first START


def reckon(
    collector: Collector, marquez: FakeMarquez, ours: list[Event], theirs: list[Event]
) -> Reckoning:
    """Compare both sides, and print the result."""
    spooled = [row[0] for row in collector.rows("SELECT body FROM event")]
    here = Counter(valid_core(body).identity() for body in spooled)
    held = [json.dumps(event).encode() for event in marquez.stored_events()]
    there = Counter(valid_core(body).identity() for body in held)
    our_ids, their_ids = _identities(ours), _identities(theirs)
    reckoning = Reckoning(
        missing_there=len(our_ids - there.keys()),
        missing_here=len(their_ids - here.keys()),
        twice_here=sum(here.values()) - len(here),
        sent_back=sum(there[identity] - 1 for identity in their_ids),
        again_there=sum(there[identity] - 1 for identity in our_ids & there.keys()),
        out_of_order=_out_of_order(held),
    )
    print(reckoning)  # noqa: T201 - the figures of a fault run are its result
    return reckoning


def _identities(events: list[Event]) -> set[bytes]:
    return {valid_core(json.dumps(event).encode()).identity() for event in events}


def _out_of_order(held: list[bytes]) -> int:
    first: dict[str, str | None] = {}
    for body in held:
        known = valid_core(body)
        if known.run is None:
            continue  # the role's own sign of life is of no run
        first.setdefault(known.whose, known.eventType)
    return sum(kind != "START" for kind in first.values())


def end(role: Role) -> None:
    """End a test that may have failed."""
    if role.process.poll() is None:
        os.kill(role.process.pid, signal.SIGKILL)
    role.process.wait(30)
