"""Statements of the join, each executed with those parameters that it names."""

from collections.abc import Mapping

from sqlalchemy import Connection, text

Given = Mapping[str, int | str]

# Runs whose facts are to be derived anew.
CHANGED = "INSERT INTO s_run (run_key) SELECT run_key FROM run WHERE {which}"


def executed(connection: Connection, statement: str, given: Given) -> int:
    """Execute a statement; returns how many rows it changed."""
    return connection.execute(text(statement), _named(statement, given)).rowcount


def finds(connection: Connection, query: str, given: Given) -> bool:
    """Whether a query gives any row."""
    return connection.execute(text(f"{query} LIMIT 1"), _named(query, given)).first() is not None


def _named(statement: str, given: Given) -> Given:
    return {name: given[name] for name in text(statement).compile().params}
