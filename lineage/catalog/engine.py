"""Opens the catalog: SQLite in one folder, or PostgreSQL by URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event

BUSY_TIMEOUT_SECONDS = 10
# A pipeline that vanished in its turn, with its machine, keeps the next one waiting no longer.
GONE_SECONDS = 60
_CACHE_KIB = 65_536
_LOG_BYTES = 64 << 20  # of the WAL once it was copied: otherwise it never shrinks
# Of PostgreSQL, by which whole transactions wait for each other.
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_MIGRATION, _TURN = 8700, 8701


def catalog_url(data_dir: Path) -> str:
    """URL of the embedded catalog in this data folder."""
    return f"sqlite:///{data_dir / 'catalog.db'}"


def open_catalog(url: str) -> Engine:
    """An engine whose SQLite transactions take the write lock when `writing` begins them.

    Reads of SQLite see the last commit and never wait: the journal is a WAL.
    """
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    return engine


def _configure_sqlite(connection, _record) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    # Autocommit in the driver: `writing` begins the transactions, no statement starts one by guess.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}",
        f"cache_size=-{_CACHE_KIB}",
        f"journal_size_limit={_LOG_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One write transaction: all of it, or nothing.

    SQLite takes its one write lock at the start (BEGIN IMMEDIATE): a lock taken at the first write,
    after a read, cannot wait and would fail at once under contention.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


@contextmanager
def in_turn(engine: Engine) -> Iterator[Connection]:
    """A write transaction of the pipeline, of which there is one at a time, as in SQLite.

    Its tasks write the same rows, each in an order of its own: two at once would deadlock.
    """
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            idle = f"SET LOCAL idle_in_transaction_session_timeout = '{GONE_SECONDS}s'"
            connection.exec_driver_sql(idle)
            connection.exec_driver_sql(_LOCK, (_TURN,))
        yield connection


def migrate(engine: Engine) -> None:
    """Bring the catalog to the newest revision; safe when several roles start at once.

    The roles start together, so the one that comes second finds the work done: SQLite's write lock,
    or an advisory lock in PostgreSQL, is held from the first statement on.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(_LOCK, (_MIGRATION,))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
