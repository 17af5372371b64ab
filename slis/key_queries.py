"""Queries over many keys, asked for a bounded number of them at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Row, bindparam, text

from lineage.catalog.queries import split_batches


def in_parts(connection: Connection, query: str, keys: Iterable[int | str]) -> Iterator[Row[Any]]:
    """Yield the rows of a query `... IN :keys`, asked for so many keys at a time."""
    statement = text(query).bindparams(bindparam("keys", expanding=True))
    for some in split_batches(list(keys)):
        yield from connection.execute(statement, {"keys": some})


def change_in_parts(
    connection: Connection,
    change: str,
    keys: Iterable[int | str],
    given: Mapping[str, Any] | None = None,
) -> None:
    """Execute a change `... IN :keys` with these parameters, for so many keys at a time."""
    statement = text(change).bindparams(bindparam("keys", expanding=True))
    for some in split_batches(list(keys)):
        connection.execute(statement, {**(given or {}), "keys": some})
