"""Engine of the catalog: SQLite in one folder, or PostgreSQL by URL."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import ExceptionContext

from lineage.catalog.grown_tables import analyze_grown
from lineage.catalog.preparations import Work, preparations
from lineage.catalog.revision import KNOWN_REVISIONS, NewerCatalogError
from lineage.catalog.trouble import BUSY_SECONDS, DamagedCatalogError, translated_error

# A merge of 25,000 events, or the wait for another's turn, takes minutes on a busy machine.
STATEMENT_SECONDS = 600.0
MOST_CONNECTIONS = 15
# A process that vanished in a transaction, with its machine, keeps others waiting no longer.
GONE_SECONDS = 60
_CACHE_KIB = 65_536
_LOG_BYTES = 64 << 20  # of the WAL once it was copied: otherwise it never shrinks
# Of PostgreSQL, by which whole transactions wait for each other.
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_MIGRATION, _TURN = 8700, 8701
_LOCK_TRIES = 120  # of a migration, once a second
FENCE: Final = "lineward_fence"  # execution option of an engine, see `lineage.catalog.leases`


class Fence(Protocol):
    """Decision on whether a write transaction may be committed."""

    pause_seconds: int  # for which the transaction may stand still

    def check(self, connection: Connection) -> None:
        """Raise where the transaction must not be committed."""
        ...


def catalog_url(data_dir: Path) -> str:
    """Return the URL of the embedded catalog in this data folder."""
    return f"sqlite:///{data_dir / 'catalog.db'}"


def open_catalog(
    url: str, *, seconds: float = STATEMENT_SECONDS, most: int = MOST_CONNECTIONS
) -> Engine:
    """Create an engine whose SQLite transactions take the write lock as they begin.

    Reads of SQLite see the last commit and never wait: the journal is a WAL.

    Args:
        url: of the catalog.
        seconds: for which a PostgreSQL may work at one statement, or say nothing.
        most: connections to it at once.
    """
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(url)
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "handle_error", _translate)
        return engine
    from lineage.catalog.postgres import REPLACED_SECONDS  # noqa: PLC0415 - as below

    kept = min(most, 5)
    engine = create_engine(
        url,
        pool_pre_ping=True,  # after a failover each connection of before is dead
        pool_size=kept,
        max_overflow=most - kept,
        pool_timeout=seconds,
        pool_recycle=REPLACED_SECONDS,
    )
    event.listen(engine, "do_connect", partial(_connect_postgres, seconds=seconds))
    event.listen(engine, "begin", partial(_limit, seconds=seconds))
    return engine


def _limit(connection: Connection, *, seconds: float | None) -> None:
    """Limit the statements of the transaction that is open, or that begins here."""
    from lineage.catalog.postgres import limit_statements  # noqa: PLC0415 - as below

    connection.connection.dbapi_connection.seconds = seconds  # type: ignore[union-attr]
    # By SQLAlchemy, which knows the errors of a connection that was cut off.
    connection.exec_driver_sql(limit_statements(seconds))


def _connect_postgres(
    _dialect: object, _record: object, _given: object, parameters: dict[str, Any], *, seconds: float
) -> object:
    from lineage.catalog.postgres import connect  # noqa: PLC0415 - only where a PostgreSQL is

    return connect("", seconds, **parameters)


def _translate(context: ExceptionContext) -> None:
    """Say of a damaged file what to do, in place of what SQLite says of one of its pages."""
    path = context.engine.url.database if context.engine is not None else None
    trouble = translated_error(context.original_exception, path or "")
    if isinstance(trouble, DamagedCatalogError):
        raise trouble from context.original_exception


def _configure_sqlite(connection, _record) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    # Autocommit in the driver: `write_transaction` begins them, no statement by guess.
    connection.isolation_level = None
    _, _, path = connection.execute("PRAGMA database_list").fetchone()
    try:
        _set_pragmas(connection)
    except sqlite3.DatabaseError as error:
        raise translated_error(error, path) or error from error


def _set_pragmas(connection: sqlite3.Connection) -> None:
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={BUSY_SECONDS * 1000}",
        f"cache_size=-{_CACHE_KIB}",
        f"journal_size_limit={_LOG_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Run one write transaction: all of it, or nothing.

    SQLite takes its one write lock at the start (BEGIN IMMEDIATE): a lock taken at the first write,
    after a read, cannot wait and would fail at once under contention.

    Raises:
        lineage.lease_rules.LeaseLostError: the engine is of a leader
            (`lineage.catalog.leases.leading`) that no longer leads; nothing was written.
    """
    fence: Fence | None = engine.get_execution_options().get(FENCE)
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            limit_pause(connection, GONE_SECONDS if fence is None else fence.pause_seconds)
        yield connection
        if fence is not None:
            fence.check(connection)


def limit_pause(connection: Connection, seconds: int) -> None:
    """Have PostgreSQL end this transaction, with its locks, when it stands still for so long."""
    idle = f"SET LOCAL idle_in_transaction_session_timeout = '{seconds}s'"
    connection.exec_driver_sql(idle)


@contextmanager
def exclusive_transaction(engine: Engine) -> Iterator[Connection]:
    """Run a write transaction of the pipeline; only one runs at a time, as in SQLite.

    Its tasks write the same rows, each in an order of its own: two at once would deadlock.
    """
    with write_transaction(engine) as connection:
        if engine.dialect.name == "sqlite":
            yield connection
            return
        connection.exec_driver_sql(_LOCK, (_TURN,))
        yield connection
        analyze_grown(connection)


def migrate(engine: Engine, *, to: str = "head") -> None:
    """Bring the catalog to the newest revision, or to the one given.

    Safe when several do so at once: SQLite's write lock, or an advisory lock in PostgreSQL, is held
    from the first statement on. The second one finds the work done. In PostgreSQL, what a
    migration prepares while others read and write is committed before it.

    Raises:
        NewerCatalogError: a newer release has upgraded it.
        OperationalError: for minutes others held locks that a migration needs for a moment.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    for revision, work in preparations(engine, config, to):
        while _migrate(engine, config, revision, work):
            pass
    _migrate(engine, config, to)


def _migrate(engine: Engine, config: Config, to: str, work: Work | None = None) -> bool:
    """Migrate, and do this work; return whether more of it is left."""

    def run() -> bool:
        with _migrating(engine) as connection:
            config.attributes["connection"] = connection
            found = MigrationContext.configure(connection).get_current_revision()
            if found is not None and found not in KNOWN_REVISIONS:
                raise NewerCatalogError(found)
            if work is None or found is None or found <= to:
                command.upgrade(config, to)
                return work is not None and bool(work(connection))
            return False

    if engine.dialect.name == "sqlite":
        return run()
    from lineage.catalog.partitions import retry_lock_waits  # noqa: PLC0415 - only for a PostgreSQL

    return retry_lock_waits(run, _LOCK_TRIES)


@contextmanager
def _migrating(engine: Engine) -> Iterator[Connection]:
    with write_transaction(engine) as connection:
        if engine.dialect.name == "postgresql":
            # An index over a year of rows takes as long as it takes.
            _limit(connection, seconds=None)
            connection.exec_driver_sql(_LOCK, (_MIGRATION,))
        yield connection
