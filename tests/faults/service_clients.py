"""Clients of a Service of Kubernetes, in a process of their own: `ENDPOINTS FOLDER`.

`ENDPOINTS` is a file with the ports of the collectors that are ready, as a node knows them: each
new connection goes to one of these, and a connection that is there stays where it is. Nobody sends
an event twice. Each post is a line of `FOLDER/posts`: hash of the event, outcome, kind of the
client, port. SIGTERM ends the process.
"""

import hashlib
import http.client
import os
import random
import sys
import threading
from pathlib import Path

from tests.faults.collector_sender import STOPPING, attempt, new_body, run_until_stopped

_CLIENTS = 2  # of each kind
_PAUSE_SECONDS = 0.03  # at most, between two posts: a kept-alive connection is idle meanwhile
_KINDS = {
    "keeps the connection": {},
    "closes the connection": {"Connection": "close"},
    # The collector requires a new connection for each event.
    "Spark's listener": {"User-Agent": "Apache-HttpClient/5.4 (Java/17)"},
}


class Client:
    """Sender that connects to the collectors that are listed as ready."""

    def __init__(self, endpoints: Path, kind: str, posts: int) -> None:
        """Connect to nothing yet."""
        self._endpoints, self._kind, self._posts = endpoints, kind, posts
        self._connection: http.client.HTTPConnection | None = None

    def send(self) -> None:
        """Post events until the process is stopped."""
        while not STOPPING.wait(random.uniform(0, _PAUSE_SECONDS)):  # noqa: S311 - a pause
            body = new_body()
            outcome, port = self._post(body)
            line = f"{hashlib.sha256(body).hexdigest()}\t{outcome}\t{self._kind}\t{port}\n"
            os.write(self._posts, line.encode())

    def _post(self, body: bytes) -> tuple[str, int]:
        connection = self._connection
        if connection is None or connection.sock is None:
            ports = self._endpoints.read_text(encoding="ascii").split()
            if not ports:
                return "no endpoint", 0
            port = int(random.choice(ports))  # noqa: S311 - as a node chooses
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            self._connection = connection
        return attempt(connection, body, _KINDS[self._kind]), connection.port


def main(endpoints: Path, folder: Path) -> None:
    """Send until SIGTERM."""
    posts = os.open(folder / "posts", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    clients = [Client(endpoints, kind, posts) for kind in _KINDS for _ in range(_CLIENTS)]
    threads = [threading.Thread(target=client.send) for client in clients]
    run_until_stopped(threads)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
