"""Building blocks of tables: columns that recur, and the metadata of all tables.

A table whose rows are found by a hash has `sqlite_with_rowid=False`: SQLite needs one search for a
row then, not two, and lists 100,000 datasets with their states in 0.13 s, not 0.6.
"""

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, Table, Text

metadata = MetaData()
_IS_KEY_IN: Final = "is_key_in"  # the one dialect in which a column is a part of the primary key


def key_column(name: str) -> Column[int]:
    """Return a primary key column: an assigned number, never a generated one."""
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def text_key(name: str) -> Column[str]:
    """Return a text column of a primary key."""
    return Column(name, Text, primary_key=True)


def number_column() -> Column[int]:
    """Return a primary key column `id` with generated numbers."""
    return Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def day_of_run() -> Column[int]:
    """Return the column of the day in a run's id (`lineage.names.run_ids`).

    0 for an id without a time, and for a run that an older release stored. PostgreSQL keeps runs
    in partitions by it, so that there it is a part of the key. A run is in one day for ever.
    """
    info = {_IS_KEY_IN: "postgresql"}
    return Column("day", BigInteger, nullable=False, server_default="0", info=info)


def key_names(table: Table, dialect: str | None = None) -> list[str]:
    """Return the columns of the primary key that the database has, by name; None: any database."""
    return [column.name for column in table.c if column.primary_key or _is_key(column, dialect)]


def _is_key(column: Column[Any], dialect: str | None) -> bool:
    key_in = column.info.get(_IS_KEY_IN)
    return key_in is not None and dialect in {None, key_in}


def instant(name: str, *, nullable: bool = True) -> Column[int]:
    """Return a column of microseconds since 1970 UTC."""
    return Column(name, BigInteger, nullable=nullable)


def flag(name: str) -> Column[bool]:
    """Return a column of yes or no, never null."""
    return Column(name, Boolean, nullable=False)
