"""Catalogs to measure in: each is empty at first, and is deleted afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, create_engine, make_url, text

from lineage.catalog.engine import migrate, open_catalog
from slis.settings import SharedPaths

_PROC: Final = Path("/proc")
_POSTGRES_SIZE: Final = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_SQLITE_SIZE: Final = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"


@contextmanager
def empty_catalog(folder: Path, url: str | None) -> Iterator[tuple[SharedPaths, Engine]]:
    """Make a place with an empty catalog.

    Args:
        folder: to be made, of spool and lake.
        url: of a PostgreSQL database, in which the catalog is a schema of its own; None: SQLite.

    Raises:
        sqlalchemy.exc.ProgrammingError: the database has this schema, from a
            measurement that was killed.
    """
    folder.mkdir(parents=True)
    if url is None:
        with _opened(SharedPaths(data_dir=folder)) as made:
            yield made
        return
    with (
        _schema(url, f"lineward_bench_{folder.name}") as own,
        _opened(SharedPaths(data_dir=folder, catalog_url=own)) as made,
    ):
        yield made


@contextmanager
def _opened(place: SharedPaths) -> Iterator[tuple[SharedPaths, Engine]]:
    engine = open_catalog(place.catalog)
    try:
        migrate(engine)
        yield place, engine
    finally:
        engine.dispose()


@contextmanager
def _schema(url: str, name: str) -> Iterator[str]:
    """Make a schema in the database; its URL."""
    owner = create_engine(url, isolation_level="AUTOCOMMIT")
    own = make_url(url).update_query_dict({"options": f"-csearch_path={name}"})
    try:
        with owner.connect() as connection:
            connection.execute(text(f"CREATE SCHEMA {name}"))
        try:
            yield own.render_as_string(hide_password=False)
        finally:
            with owner.connect() as connection:
                connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    finally:
        owner.dispose()


class CatalogMeter:
    """Meter of a catalog and its server: what they have taken since it was made."""

    def __init__(self, engine: Engine) -> None:
        """Begin to count for the catalog of this engine."""
        self._engine = engine
        self._is_postgres = engine.dialect.name == "postgresql"
        self._cpu_before = self._cpu()
        self._wal_before = self._wal()
        self._bytes_before = self._bytes()

    def cpu_seconds(self) -> float | None:
        """Return CPU seconds of the server; None where it does not run on this machine."""
        now = self._cpu()
        return None if now is None or self._cpu_before is None else now - self._cpu_before

    def wal_bytes(self) -> int | None:
        """Return bytes of the server's write-ahead log; None where the catalog has no server."""
        return self._wal() - self._wal_before if self._is_postgres else None

    def table_bytes(self) -> int:
        """Return bytes by which tables and indexes grew."""
        return self._bytes() - self._bytes_before

    def _cpu(self) -> float | None:
        return _server_cpu(self._ask("SELECT pg_backend_pid()")) if self._is_postgres else None

    def _wal(self) -> int:
        if not self._is_postgres:
            return 0
        return self._ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")

    def _bytes(self) -> int:
        return self._ask(_POSTGRES_SIZE if self._is_postgres else _SQLITE_SIZE)

    def _ask(self, question: str) -> int:
        with self._engine.connect() as connection:
            return int(connection.execute(text(question)).scalar_one())


def _server_cpu(backend: int) -> float | None:
    """Return CPU seconds of PostgreSQL's processes, also of those that ended.

    Args:
        backend: process id of a session, as the server gives it.
    """
    command = _PROC / str(backend) / "comm"
    if not command.is_file() or not command.read_text().startswith("postgres"):
        return None  # the server is on another machine, or in a container
    postmaster = _stat(_PROC / str(backend))[1]
    stats = [_stat(each) for each in _PROC.glob("[0-9]*")]
    own = sum(sum(each[11:13]) for each in stats if each[1] == postmaster)
    return (own + sum(_stat(_PROC / str(postmaster))[11:15])) / os.sysconf("SC_CLK_TCK")


def _stat(process: Path) -> list[int]:
    """Return the numbers of a process behind its state: its parent is the second."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return [0] * 50
    return [0, *(int(field) for field in fields[1:])]
