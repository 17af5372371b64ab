"""Ports for the servers of tests."""

import itertools
import os
import re
import socket
from collections.abc import Iterator

# Below those that the system gives to connections and to servers on port 0: none of these can take
# a chosen port before its server is up.
_FIRST, _COUNT = 20_000, 12_000
_WORKERS = 16
_SLICE = _COUNT // _WORKERS


def _candidates(worker: str, process: int) -> Iterator[int]:
    """Return the ports of a worker of pytest, from one that depends on its process."""
    number = int(re.sub(r"\D", "", worker) or 0) % _WORKERS
    first = _FIRST + number * _SLICE
    return itertools.cycle(first + (process + step) % _SLICE for step in range(_SLICE))


_CANDIDATES = _candidates(os.environ.get("PYTEST_XDIST_WORKER", ""), os.getpid())


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 on which nothing listens."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return different free ports, which this worker gave to nobody for a long time."""
    return list(itertools.islice(filter(_is_free, _CANDIDATES), count))


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
