"""Sender threads in a process of their own: `collector_sender.py PORT FOLDER SENDERS`.

Each ack is written to `FOLDER/ledger` and synced before the next event is sent: a line with hash
and time. All outcomes are counted in `FOLDER/seen`, as JSON, when SIGTERM ends the process.
"""

import hashlib
import http.client
import json
import os
import signal
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

STOPPING = threading.Event()
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_EVENT = {
    "eventTime": "2026-11-21T09:00:00Z",
    "producer": "https://example.org/faults",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "eventType": "COMPLETE",
    "job": {"namespace": "faults", "name": "sender"},
}


def new_body() -> bytes:
    """Return an event with a new run id."""
    return json.dumps(_EVENT | {"run": {"runId": str(uuid.uuid4())}}).encode()


def attempt(
    connection: http.client.HTTPConnection, body: bytes, headers: Mapping[str, str] = _NO_HEADERS
) -> str:
    """Post an event; return the status, or the name of the error."""
    try:
        connection.request("POST", "/api/v1/lineage", body, headers)
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return type(error).__name__
    return str(answer.status)


def _send(port: int, ledger: int, seen: Counter[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while not STOPPING.is_set():
        body = new_body()
        line = f"{hashlib.sha256(body).hexdigest()} {time.time()}\n".encode()
        # Repeat the same event until it is acknowledged, as a careful sender does.
        while not STOPPING.is_set():
            outcome = attempt(connection, body)
            seen[outcome] += 1
            if outcome == "201":
                os.write(ledger, line)
                os.fsync(ledger)
                break


def run_until_stopped(threads: Sequence[threading.Thread]) -> None:
    """Run threads that check `STOPPING`, which SIGTERM sets, and wait for their end."""
    signal.signal(signal.SIGTERM, lambda *_: STOPPING.set())
    for thread in threads:
        thread.start()
    while not STOPPING.wait(0.2):
        continue
    for thread in threads:
        thread.join()


def main(port: int, folder: Path, senders: int) -> None:
    """Send until SIGTERM."""
    ledger = os.open(folder / "ledger", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    seen: list[Counter[str]] = [Counter() for _ in range(senders)]
    threads = [threading.Thread(target=_send, args=(port, ledger, counts)) for counts in seen]
    run_until_stopped(threads)
    (folder / "seen").write_text(json.dumps(sum(seen, Counter())))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
