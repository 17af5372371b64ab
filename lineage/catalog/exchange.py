"""Exchange of a plain table of PostgreSQL for one with partitions: no row is copied."""

from collections.abc import Iterator
from typing import Final

import msgspec
from sqlalchemy import Connection, text

_INDEXES: Final = """
    SELECT c.relname, pg_get_indexdef(i.indexrelid), i.indisprimary
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = to_regclass(:table) ORDER BY c.relname
"""
_GRANTS: Final = """
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END, a.privilege_type
    FROM pg_class c CROSS JOIN aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = to_regclass(:table) AND a.grantee <> c.relowner
"""


class Exchange(msgspec.Struct, frozen=True):
    """Plain table that becomes a partition of a table with its name.

    Attributes:
        table: its name.
        part: what it is called afterwards; a constraint of this name says that all of its rows lie
            within `bounds`, so that no row is read under the lock.
        column: of the ranges.
        keys: of the primary key, which has the column.
        bounds: of the rows, as `FOR VALUES` has them.
        unique: index by the new key where the primary key lacks the column; it becomes the key.
    """

    table: str
    part: str
    column: str
    keys: str
    bounds: str
    unique: str | None = None


def exchange(connection: Connection, given: Exchange) -> None:
    """Make the table a partition, beside a default partition; who may read it, may still.

    Nobody else reads the table until the transaction ends. A default partition that exists is used.
    """
    table, part, column = given.table, given.part, given.column
    connection.exec_driver_sql(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    indexes = [
        (name, definition, is_key)
        for name, definition, is_key in connection.execute(text(_INDEXES), {"table": table}).all()
        if name != given.unique
    ]
    for statement in (
        f"ALTER TABLE {table} RENAME TO {part}",
        *(f"ALTER INDEX {name} RENAME TO {part}{name.removeprefix(table)}" for name, *_ in indexes),
        *_new_key(given),
        f"CREATE TABLE {table} (LIKE {part} INCLUDING DEFAULTS) PARTITION BY RANGE ({column})",
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY ({given.keys})",
        *(definition for _, definition, is_key in indexes if not is_key),
        _default(connection, table),
        f"ALTER TABLE {table} ATTACH PARTITION {part} FOR VALUES {given.bounds}",
        f"ALTER TABLE {part} DROP CONSTRAINT {part}",
    ):
        connection.exec_driver_sql(statement)
    for grantee, privilege in connection.execute(text(_GRANTS), {"table": part}).all():
        connection.exec_driver_sql(f"GRANT {privilege} ON {table} TO {grantee}")


def _new_key(given: Exchange) -> Iterator[str]:
    if given.unique is not None:
        key = f"{given.part}_pkey"
        yield (
            f"ALTER TABLE {given.part} DROP CONSTRAINT {key},"
            f" ADD CONSTRAINT {key} PRIMARY KEY USING INDEX {given.unique}"
        )


def _default(connection: Connection, table: str) -> str:
    name = f"{table}_default"
    if connection.scalar(text("SELECT to_regclass(:name)"), {"name": name}) is None:
        return f"CREATE TABLE {name} PARTITION OF {table} DEFAULT"
    return f"ALTER TABLE {table} ATTACH PARTITION {name} DEFAULT"
