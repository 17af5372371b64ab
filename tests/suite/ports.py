"""Ports for the servers of tests."""

import socket


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 on which nothing listens."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return different free ports: each stays bound until all are chosen."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()
