"""Statements of the join, each executed with those parameters that it names."""

from collections.abc import Mapping

from sqlalchemy import Connection, text

Given = Mapping[str, int | str]

# Runs whose facts are to be derived anew.
CHANGED = "INSERT INTO s_run (run_key) SELECT run_key FROM run WHERE {which}"


def executed(connection: Connection, statement: str, given: Given) -> int:
    """Execute a statement; returns how many rows it changed."""
    query = text(statement)
    named = query.compile().params
    return connection.execute(query, {name: given[name] for name in named}).rowcount
