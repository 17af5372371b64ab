"""Queries over many keys, asked for a bounded number of them at a time."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Row, bindparam, text

_KEYS_A_QUERY = 500


def in_parts(connection: Connection, query: str, keys: Iterable[int | str]) -> Iterator[Row[Any]]:
    """Rows of a query `... IN :keys`, asked for so many keys at a time."""
    statement = text(query).bindparams(bindparam("keys", expanding=True))
    ordered = list(keys)
    for start in range(0, len(ordered), _KEYS_A_QUERY):
        yield from connection.execute(statement, {"keys": ordered[start : start + _KEYS_A_QUERY]})
