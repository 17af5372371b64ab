"""PostgreSQL databases that tests use in turn: emptying one costs less than creating one."""

# ruff: noqa: S608 - the names in these statements are our own

import uuid
from typing import Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from lineage.catalog.engine import migrate, open_catalog

_MOST_BYTES: Final = 64 << 20  # rows of a large test would slow down later ones
_KEPT: Final = "alembic_version"
# Definitions that a test may have changed; a changed database is not used again.
_SCHEMA: Final = f"""
    SELECT
        pg_database_size(current_database()) > {_MOST_BYTES},
        md5(string_agg(part, ',' ORDER BY part))
    FROM (
        SELECT concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull, a.atthasdef)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'public'::regnamespace AND NOT a.attisdropped
        UNION ALL
        SELECT pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT 'revision ' || version_num FROM {_KEPT}
    ) AS everything (part)
"""
# Resets the planner's statistics: with those of the previous test one query took 10 minutes.
_FORGET: Final = """
    SELECT pg_clear_relation_stats(schemaname, tablename) FROM pg_tables
    WHERE schemaname = 'public';
    DELETE FROM pg_statistic s USING pg_class c
    WHERE c.oid = s.starelid AND c.relnamespace = 'public'::regnamespace
"""
_RESTART: Final = "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence"


class Databases:
    """Empty, migrated databases of one server, each with a new name.

    A service that a test did not stop connects to the old name, which no longer exists.
    """

    def __init__(self, server: Engine) -> None:
        """Set up; `server` is an engine in autocommit mode."""
        self._server = server
        self._free: list[str] = []
        self._template = self._create("template1")
        engine = self._open(self._template)
        migrate(engine)
        with engine.connect() as connection:
            tables = connection.scalars(
                text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            )
            self._tables = sorted(set(tables) - {_KEPT})
            self._schema = tuple(connection.execute(text(_SCHEMA)).one())
            for each in self._tables:
                # Rows of the migrations, which an emptied database would lack.
                assert not connection.scalar(text(f"SELECT count(*) FROM {each}")), each
        engine.dispose()

    def take(self) -> Engine:
        """Return an engine of an empty database: one that was given back, or a new one."""
        while self._free:
            if engine := self._reuse(self._free.pop()):
                return engine
        return self._open(self._create(self._template))

    def copy(self, engine: Engine) -> Engine:
        """Return an engine of a new database with the tables and rows of this one."""
        engine.dispose()  # PostgreSQL copies no database that is in use
        return self._open(self._create(str(engine.url.database)))

    def give_back(self, engine: Engine) -> None:
        """Close the engine, and keep its database for another test."""
        engine.dispose()
        self._free.append(str(engine.url.database))

    def _reuse(self, used: str) -> Engine | None:
        """Return an engine of this database, emptied; None if its tables are not as they were."""
        name = _new_name()
        try:
            self._disconnect(used)
            self._run(f"ALTER DATABASE {used} RENAME TO {name}")
        except DBAPIError:  # a leftover service connects to it repeatedly
            self._drop(used)
            return None
        engine = self._open(name)
        with engine.begin() as connection:
            if self._is_unchanged(connection):
                deletes = "; ".join(f"DELETE FROM {each}" for each in self._tables)
                connection.exec_driver_sql(f"{deletes}; {_FORGET}; {_RESTART}")
                return engine
        engine.dispose()
        self._drop(name)
        return None

    def _is_unchanged(self, connection: Connection) -> bool:
        return tuple(connection.execute(text(_SCHEMA)).one()) == self._schema

    def _create(self, template: str) -> str:
        name = _new_name()
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def _disconnect(self, name: str) -> None:
        self._run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )

    def _drop(self, name: str) -> None:
        # FORCE ends connections of leftover services; the server allows only a hundred.
        self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _run(self, sql: str) -> None:
        with self._server.connect() as connection:
            connection.execute(text(sql))

    def _open(self, name: str) -> Engine:
        url = self._server.url.set(database=name)
        return open_catalog(url.render_as_string(hide_password=False))


def _new_name() -> str:
    return f"t_{uuid.uuid4().hex}"
