"""Upserts of a caller who knows which rows are stored."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, TextClause, text

from lineage.catalog.upsert import (
    MOST_CACHED_STATEMENTS,
    ColumnFold,
    compiled_for,
    count_changed,
    insert_from,
    upsert,
)


class Then(NamedTuple):
    """Statement that follows an insert, as a part of it.

    Attributes:
        columns: of the new rows.
        sql: statement that reads them from `inserted`.
    """

    columns: str
    sql: str


def insert_or_fold(  # noqa: PLR0913 - by name
    connection: Connection,
    table: Table,
    query: str,
    folds: Mapping[str, ColumnFold],
    *,
    known: str,
    is_any_known: bool,
    keeps: str = "",
    given: Mapping[str, Any] | None = None,
    then: Then | None = None,
    is_query_cheap: bool = False,
) -> int:
    """Do what `upsert` does, where the caller knows which rows are stored.

    PostgreSQL inserts a row in a third less time where no conflict is provided for.

    Args:
        connection: inside a transaction that alone writes to the table.
        table: to write.
        query: as `upsert` has it, with `{chosen}` for a condition.
        folds: as `upsert` has it.
        known: condition of the rows that are stored.
        is_any_known: whether there are such rows.
        keeps: as `upsert` has it.
        given: parameters of `query`.
        then: what PostgreSQL does with the rows that are new.
        is_query_cheap: whether it runs the query again for that. To keep the inserted rows takes
            it longer than a query without groups.

    Returns:
        Number of rows inserted or folded.
    """
    names = (*folds, *keeps.split())
    new = query.format(chosen=f"NOT ({known})" if is_any_known else "1 = 1")
    dialect = connection.dialect.name
    inserting = _inserting(dialect, table, new, names, None if is_query_cheap else then)
    inserted = count_changed(connection, inserting, given)
    if then is not None and is_query_cheap and dialect != "sqlite":
        connection.execute(text(f"WITH inserted AS ({new}) {then.sql}"), given or {})
    if not is_any_known:
        return inserted
    stored = query.format(chosen=known)
    return inserted + upsert(connection, table, stored, folds, keeps=keeps, given=given)


@lru_cache(MOST_CACHED_STATEMENTS)
def _inserting(
    dialect: str, table: Table, query: str, names: tuple[str, ...], then: Then | None
) -> TextClause:
    insert = insert_from(dialect, table, query, names)
    if then is None or dialect == "sqlite":
        return compiled_for(dialect, insert)
    return compiled_for(
        dialect, insert, f"WITH inserted AS ({{}} RETURNING {then.columns}) {then.sql}"
    )
