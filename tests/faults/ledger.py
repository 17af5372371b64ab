"""Ledger of acknowledgements, which senders write by themselves, compared with the spool."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.collector.running import Collector

_SENDER = Path(__file__).with_name("collector_sender.py")


class Compared(NamedTuple):
    """Numbers of events by what the sender knows and what the spool has."""

    acked: int
    stored: int
    lost: int  # acked - stored: must be 0
    unacked: int  # stored - acked: allowed, the answer was lost


class Senders:
    """Threads that send, in a process of their own, with their ledger."""

    def __init__(self, port: int, folder: Path, *, senders: int = 4) -> None:
        """Start to send."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(_SENDER), str(port), str(folder), str(senders)]
        )

    def acks(self) -> int:
        """Return how many events were acknowledged so far."""
        return len(acked(self._folder))

    def stop(self) -> dict[str, int]:
        """End the senders; return how often each status or error was seen."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0
        seen: dict[str, int] = json.loads((self._folder / "seen").read_text())
        return seen

    def kill(self) -> None:
        """End a test that may have failed."""
        self._process.kill()
        self._process.wait(30)


def acked(folder: Path) -> set[str]:
    """Return the hashes in whole lines of the ledger, if there is one yet."""
    try:
        text = (folder / "ledger").read_text(encoding="ascii")
    except FileNotFoundError:
        return set()
    return {line.split()[0] for line in text[: text.rfind("\n") + 1].splitlines()}


def compare(hashes: set[str], collector: Collector) -> Compared:
    """Compare acknowledged events with stored ones, and print the numbers."""
    stored = {row[0].lower() for row in collector.rows("SELECT hex(body_hash) FROM event")}
    compared = Compared(len(hashes), len(stored), len(hashes - stored), len(stored - hashes))
    print(compared)  # noqa: T201 - the figures of a fault run are its result
    return compared
