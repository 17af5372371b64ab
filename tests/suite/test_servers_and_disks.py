"""Free ports and small disks of the tests."""

import shutil
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.suite.disks import fill
from tests.suite.ports import free_ports

_PAGE = 4_096


def test_free_ports_differ_and_can_be_used():
    """Bind all of them at once."""
    ports = free_ports(20)

    with ExitStack() as bound:
        for port in ports:
            bound.enter_context(socket.create_server(("127.0.0.1", port)))
    assert len(set(ports)) == 20


def test_a_port_is_not_given_twice_nor_in_use():
    """Keep one bound, and take as many as there are: the system gives none of them to others."""
    used = free_ports(1)[0]

    with socket.create_server(("127.0.0.1", used)):
        ports = free_ports(700)

    assert len(set(ports)) == 700
    assert used not in ports
    assert max(ports) < _first_of_the_system()


def _first_of_the_system() -> int:
    given = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    return int(given.split()[0])


@pytest.mark.parametrize("leave", [0, 3 * _PAGE, 2 << 20])
def test_a_filled_disk_has_so_many_bytes_left(disk, leave):
    """Fill to the page, and free the space by deleting the returned file."""
    before = shutil.disk_usage(disk).free

    ballast = fill(disk, leave=leave)

    assert shutil.disk_usage(disk).free == leave
    ballast.unlink()
    assert shutil.disk_usage(disk).free == before
