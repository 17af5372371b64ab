"""PgBouncer that pools by transaction, in front of the PostgreSQL of the tests."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import URL

from tests.suite.ports import free_port
from tests.suite.waiting import until

# Each transaction gets another session than the previous one, where there are several.
_SETTINGS: Final = """\
[databases]
* = host={host} port={server_port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = 6
max_client_conn = 200
"""


@contextmanager
def running_pgbouncer(server: URL, folder: Path) -> Iterator[int]:
    """Give the port of a PgBouncer before this server; end it in the end.

    Args:
        server: with the folder of its socket as its host.
        folder: for settings and log.
    """
    port = free_port()
    host, user = server.query["host"], server.username
    settings = folder / "pgbouncer.ini"
    given = {"host": host, "server_port": server.port or 5432, "user": user, "port": port}
    settings.write_text(_SETTINGS.format(**given))
    log = folder / "pgbouncer.log"
    # Debian's is not on the path of every user. It does not run as root, and only the server's own
    # user reaches its socket.
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program is not None, "pgbouncer is not there: run scripts/setup.sh test"
    as_user = ["-u", "pgserver"] if os.geteuid() == 0 else []
    with log.open("ab") as output:
        process = subprocess.Popen([program, *as_user, str(settings)], stdout=output, stderr=output)
    try:
        until(lambda: _listens(port, process), describe=log.read_text)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True
