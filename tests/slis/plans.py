"""Query plans of SQLite."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, text

# Tables of a batch or a pass alone are small, and so are the subqueries over these.
_SMALL = ("t_", "s_", "(subquery")


def plan_of(connection: Connection, query: str, given: Mapping[str, Any] | None = None) -> str:
    """Return the plan, a line a step."""
    values = defaultdict(int, given or {})
    named = {name: values[name] for name in text(query).compile().params}
    rows = connection.execute(text(f"EXPLAIN QUERY PLAN {query}"), named)
    return "\n".join(row.detail for row in rows)


def scanned_tables(
    connection: Connection,
    query: str,
    given: Mapping[str, Any] | None = None,
    *,
    small: tuple[str, ...] = (),
) -> list[str]:
    """Return the tables that SQLite would read whole.

    Args:
        connection: to a catalog with staging tables.
        query: to be planned.
        given: parameters of the query; 0 for each missing one.
        small: names of tables, or prefixes of names, that are left out.
    """
    steps = plan_of(connection, query, given).splitlines()
    names = [step.split()[1] for step in steps if step.startswith("SCAN ")]
    return [name for name in names if not name.startswith((*_SMALL, *small))]
