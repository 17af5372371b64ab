"""Catalogs to measure in: each is empty at first, and is deleted afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, create_engine, make_url, text

from lineage.catalog.engine import migrate, open_catalog
from slis.footprint import CpuMeter, parent_of
from slis.settings import Place

_POSTGRES_SIZE: Final = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
"""
_SQLITE_SIZE: Final = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"


@contextmanager
def empty_catalog(folder: Path, url: str | None) -> Iterator[tuple[Place, Engine]]:
    """Make a place with an empty catalog.

    Args:
        folder: to be made, of spool and lake.
        url: of a PostgreSQL database, in which the catalog is a schema of its own; None: SQLite.

    Raises:
        ProgrammingError: the database has this schema, from a measurement that was killed.
    """
    folder.mkdir(parents=True)
    if url is None:
        with _opened(Place(data_dir=folder)) as made:
            yield made
        return
    with (
        _schema(url, f"lineward_bench_{folder.name}") as own,
        _opened(Place(data_dir=folder, catalog_url=own)) as made,
    ):
        yield made


@contextmanager
def _opened(place: Place) -> Iterator[tuple[Place, Engine]]:
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
    """What a catalog and its server have taken since the meter was made."""

    def __init__(self, engine: Engine) -> None:
        """`engine`: of the catalog; the CPU time of a server on another machine is not known."""
        self._engine = engine
        self._is_postgres = engine.dialect.name == "postgresql"
        self._cpu = CpuMeter(self._server()) if self._is_postgres else None
        self._wal_before = self._wal()
        self._bytes_before = self._bytes()

    def cpu_seconds(self) -> float | None:
        """CPU time of the PostgreSQL server; None where the catalog has none."""
        return None if self._cpu is None else self._cpu.seconds()

    def wal_bytes(self) -> int | None:
        """Bytes that the PostgreSQL server wrote to its log; None where the catalog has none."""
        return self._wal() - self._wal_before if self._is_postgres else None

    def table_bytes(self) -> int:
        """Bytes by which tables and indexes grew."""
        return self._bytes() - self._bytes_before

    def _server(self) -> int:
        """Return the process that all connections are served below."""
        return parent_of(self._ask("SELECT pg_backend_pid()"))

    def _wal(self) -> int:
        if not self._is_postgres:
            return 0
        return self._ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")

    def _bytes(self) -> int:
        return self._ask(_POSTGRES_SIZE if self._is_postgres else _SQLITE_SIZE)

    def _ask(self, question: str) -> int:
        with self._engine.connect() as connection:
            return int(connection.execute(text(question)).scalar_one())
