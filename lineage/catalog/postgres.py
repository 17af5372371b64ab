"""Connections to a PostgreSQL catalog, none of which waits without end.

A server whose machine is gone, or behind a firewall that drops packets, says nothing at all. libpq
would wait for as long as the kernel does: from two minutes to two hours.

Nothing is kept in a session of the server: behind a PgBouncer that pools by transaction the next
transaction has another session, and other clients have this one.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from lineage.catalog.reader import UnreachableCatalogError
from lineage.catalog.trouble import CatalogError

CONNECT_SECONDS: Final = 5
# For libpq: how long a connection is believed in that answers nothing, not even its kernel.
PARAMETERS: Final[dict[str, int]] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}
# A connection is opened again: it follows a pooler or a server that was added since, and the
# server frees what the session has gathered.
REPLACED_SECONDS: Final = 1_800
# The other classes of psycopg mean an invalid statement: a bug, whose traceback is needed.
_FAILURES: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.InternalError,
    psycopg.errors.InsufficientPrivilege,
)
_PING_SECONDS: Final = 2.0
_GRACE_SECONDS: Final = 2.0  # in which the server ends a statement by itself


class LimitedConnection(psycopg.Connection[Any]):
    """Connection that waits at most `seconds` for each response of the server.

    Attributes:
        seconds: None waits without end.
        made_at: by the monotonic clock.
    """

    seconds: float | None = CONNECT_SECONDS
    made_at: float = 0.0

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:  # noqa: ANN401 - psycopg's generators
        """Consume one exchange with the server.

        Raises:
            psycopg.OperationalError: no answer in time; the connection is closed.
        """
        if timeout is not None or self.seconds is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.seconds + _GRACE_SECONDS)
        except psycopg.errors._WaitTimeout as error:  # noqa: SLF001 - psycopg has no public name
            self.pgconn.finish()
            message = f"the server has not answered for {self.seconds:g} s"
            raise psycopg.OperationalError(message) from error

    def limit(self, seconds: float | None) -> None:
        """Have the server end a statement of this transaction after `seconds`, and wait no longer.

        The transaction begins here, unless it has begun.
        """
        self.seconds = seconds
        self.execute(limit_statements(seconds))


def explain_postgres_error(error: BaseException) -> CatalogError | None:
    """Return the error to report for any failure of the server; None for an invalid statement."""
    if not isinstance(error, _FAILURES):
        return None
    text = str(error).partition("\n")[0]
    if error.sqlstate is None:
        return UnreachableCatalogError(text)
    return CatalogError(f"LINEWARD_CATALOG_URL: PostgreSQL reports: {text}")


def limit_statements(seconds: float | None) -> str:
    """Return the SQL by which the server ends a statement of this transaction after `seconds`."""
    milliseconds = 0 if seconds is None else int(seconds * 1000)
    return f"SET LOCAL statement_timeout = {milliseconds}"


def connect(url: str, seconds: float | None, **given: Any) -> LimitedConnection:  # noqa: ANN401 - psycopg's
    """Connect, and wait so long for each answer; `LimitedConnection.limit` limits the server.

    Args:
        url: of libpq; what it says of timeouts counts.
        seconds: None is without a limit.
        given: more of libpq's parameters.

    Raises:
        psycopg.OperationalError: nothing answers in `CONNECT_SECONDS`, or not as a PostgreSQL.
    """
    own = {**conninfo_to_dict(url), **given}
    missing: dict[str, Any] = {n: value for n, value in PARAMETERS.items() if n not in own}
    # A statement that a session has prepared is unknown in the next one.
    made = LimitedConnection.connect(url, prepare_threshold=None, **missing, **given)
    made.seconds = seconds
    return made


class Connections:
    """Connections of one process for reading: kept for the next one who asks, at most `most`.

    After a failed connection nobody tries again for a second: later callers get the same error at
    once, and no thread is held.
    """

    def __init__(self, url: str, most: int, wait_seconds: float = CONNECT_SECONDS) -> None:
        self._url = url
        self._wait_seconds = wait_seconds
        self._room = threading.BoundedSemaphore(most)
        self._idle: deque[LimitedConnection] = deque()
        self._failed: tuple[float, str] = (0.0, "")

    @contextmanager
    def taken(self, seconds: float) -> Iterator[LimitedConnection]:
        """Lend a connection that responds, for one transaction.

        Raises:
            psycopg.OperationalError: there is none.
        """
        if not self._room.acquire(timeout=self._wait_seconds):
            raise psycopg.OperationalError("all connections of this process are in use")
        try:
            connection = self._answering() or self._connected(seconds)
            connection.limit(seconds)
            try:
                yield connection
            finally:
                self._put_back(connection)
        finally:
            self._room.release()

    def close(self) -> None:
        """Close what nobody uses."""
        while self._idle:
            self._idle.pop().close()

    def _answering(self) -> LimitedConnection | None:
        """Return an idle connection whose server still responds; none does after a failover."""
        while self._idle:
            connection = self._idle.pop()
            try:
                connection.seconds = _PING_SECONDS
                connection.execute("SELECT 1")
                connection.rollback()
            except psycopg.Error:
                connection.close()
                self.close()  # the others were made before it, or with it
            else:
                return connection
        return None

    def _connected(self, seconds: float) -> LimitedConnection:
        at, reason = self._failed
        if time.monotonic() < at + 1 and reason:
            raise psycopg.OperationalError(reason)
        try:
            connection = connect(self._url, seconds)
        except psycopg.OperationalError as error:
            self._failed = time.monotonic(), str(error)
            raise
        connection.made_at = time.monotonic()
        connection.read_only = True
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        return connection

    def _put_back(self, connection: LimitedConnection) -> None:
        try:
            connection.rollback()
        except psycopg.Error:
            connection.close()
        is_idle = connection.info.transaction_status == TransactionStatus.IDLE
        if is_idle and time.monotonic() < connection.made_at + REPLACED_SECONDS:
            self._idle.append(connection)
        else:
            connection.close()
