"""Free ports and small disks of the tests."""

import shutil
import socket
from contextlib import ExitStack

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


@pytest.mark.parametrize("leave", [0, 3 * _PAGE, 2 << 20])
def test_a_filled_disk_has_so_many_bytes_left(disk, leave):
    """Fill to the page, and free the space by deleting the returned file."""
    before = shutil.disk_usage(disk).free

    ballast = fill(disk, leave=leave)

    assert shutil.disk_usage(disk).free == leave
    ballast.unlink()
    assert shutil.disk_usage(disk).free == before
