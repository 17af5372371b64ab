"""Statements of the join, each executed with those parameters that it names."""

from collections.abc import Mapping

from sqlalchemy import Connection, text

Given = Mapping[str, int | str]

# The id that Spark has for an application `a`, and its events: all attempts share it.
SPARK_ID = "coalesce({a}.attempt_of, {a}.application_id)"
# Whether a run `r` is of this attempt: it began after the attempt, and before the next one.
IN_ATTEMPT = f"""
    ({{a}}.attempt_of IS NULL OR r.first_event_at >= coalesce({{a}}.started_at, 0))
    AND NOT EXISTS (SELECT 1 FROM application n WHERE n.attempt_of = {SPARK_ID}
        AND n.started_at > coalesce({{a}}.started_at, 0) AND n.started_at <= r.first_event_at)
"""  # noqa: S608 - our own columns
# Runs whose facts are to be derived again.
INSERT_CHANGED_RUNS = "INSERT INTO s_run (run_key) SELECT run_key FROM run WHERE {which}"


def execute_statement(connection: Connection, statement: str, given: Given) -> int:
    """Execute a statement; returns how many rows it changed."""
    return connection.execute(text(statement), _named(statement, given)).rowcount


def has_rows(connection: Connection, query: str, given: Given) -> bool:
    """Return whether a query gives any row."""
    return connection.execute(text(f"{query} LIMIT 1"), _named(query, given)).first() is not None


def _named(statement: str, given: Given) -> Given:
    return {name: given[name] for name in text(statement).compile().params}
