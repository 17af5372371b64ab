"""Liveness requests to a server, without waiting for it."""

import socket

import pytest

from lineage.process.sockets import Livez, reachable_host


@pytest.fixture
def server():
    """Listen, and let tests answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def _has_answered(server, answer):
    livez = Livez(*server.getsockname())
    livez.ask()
    taken, _ = server.accept()
    with taken:
        asked = taken.recv(1_000)
        assert asked.startswith(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1:")
        taken.sendall(answer)
        taken.shutdown(socket.SHUT_WR)
    # On loopback sent data arrives at once.
    return livez.has_answered()


@pytest.mark.parametrize(
    ("answer", "is_live"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True),
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", False),
        (b"220 mail.example ESMTP\r\n", False),
        (b"", False),
    ],
)
def test_a_response_shows_a_live_server(server, answer, is_live):
    assert _has_answered(server, answer) is is_live


def test_a_server_that_accepts_and_never_answers_is_not_live(server):
    """Stop like a process under SIGSTOP: the kernel accepts for it."""
    livez = Livez(*server.getsockname())
    livez.ask()

    assert not livez.has_answered()


def test_a_closed_port_is_not_live(server):
    address = server.getsockname()
    server.close()
    livez = Livez(*address)
    livez.ask()

    assert not livez.has_answered()


def test_a_server_without_a_request_has_not_answered():
    assert not Livez("127.0.0.1", 9).has_answered()


@pytest.mark.parametrize(
    ("host", "reached"),
    [
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 - what a server listens on
        ("::", "::1"),
        ("", "127.0.0.1"),
        ("192.0.2.7", "192.0.2.7"),
        ("localhost", "localhost"),
    ],
)
def test_a_server_on_all_addresses_is_probed_on_loopback(host, reached):
    assert reachable_host(host) == reached
