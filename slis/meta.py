"""Notes of a whole catalog: one value under each name of `lineage.catalog.meta_keys`."""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.upsert import ColumnFold, fold_rows, insert_for, newest

_name, _value = tables.meta.c.name, tables.meta.c.value


def read_meta(connection: Connection, name: str) -> str | None:
    """Return what was noted under this name; None: nothing."""
    return connection.scalar(select(_value).where(_name == name))


def read_meta_number(connection: Connection, name: str) -> int | None:
    """Return the number that was noted under this name; None: nothing."""
    found = read_meta(connection, name)
    return None if found is None else int(found)


def list_meta(connection: Connection, prefix: str) -> list[str]:
    """Return all notes under names that begin so."""
    return list(connection.scalars(select(_value).where(_name.startswith(prefix))))


def put_meta(
    connection: Connection, values: Mapping[str, str | int], fold: ColumnFold = newest
) -> None:
    """Note values under their names; `fold` makes one of what was noted and what is given."""
    rows = [{"name": name, "value": str(value)} for name, value in values.items()]
    fold_rows(connection, tables.meta, rows, {"value": fold})


def put_meta_once(connection: Connection, name: str, value: str) -> str:
    """Return what was noted first under this name: `value`, if nothing was."""
    insert = insert_for(connection.dialect)(tables.meta).on_conflict_do_nothing()
    connection.execute(insert, {"name": name, "value": value})
    return read_meta(connection, name) or value
