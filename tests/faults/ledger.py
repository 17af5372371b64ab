"""Ledger outside of the tested process: acks, as the senders wrote them down, against rows."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.collector.running import Collector

_SENDER = Path(__file__).with_name("collector_sender.py")


class Reckoning(NamedTuple):
    """Events by what the sender knows and what the spool has."""

    acked: int
    stored: int
    lost: int  # acked - stored: must be 0
    unacked: int  # stored - acked: allowed, the answer was lost


class Senders:
    """Sender threads in a process of their own, with their ledger."""

    def __init__(self, port: int, folder: Path, *, senders: int = 4) -> None:
        """Start to send."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(_SENDER), str(port), str(folder), str(senders)]
        )

    def acks(self) -> int:
        """Return the number of acks so far."""
        return len(acked(self._folder))

    def stop(self) -> dict[str, int]:
        """Stop the senders; return how often each status or error came."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0
        seen: dict[str, int] = json.loads((self._folder / "seen").read_text())
        return seen

    def kill(self) -> None:
        """Kill the senders at the end of a test that may have failed."""
        self._process.kill()
        self._process.wait(30)


def acked(folder: Path) -> set[str]:
    """Return the hashes of the ledger's complete lines, none without a ledger."""
    try:
        text = (folder / "ledger").read_text(encoding="ascii")
    except FileNotFoundError:
        return set()
    return {line.split()[0] for line in text[: text.rfind("\n") + 1].splitlines()}


def reckon(hashes: set[str], collector: Collector) -> Reckoning:
    """Compare both, and print the result, so that a run shows what it proved."""
    stored = {row[0].lower() for row in collector.rows("SELECT hex(body_hash) FROM event")}
    reckoning = Reckoning(len(hashes), len(stored), len(hashes - stored), len(stored - hashes))
    print(reckoning)  # noqa: T201 - the figures of a fault run are its result
    return reckoning
