"""When things were last evaluated."""

from sqlalchemy import Connection, func, select

from lineage.catalog import tables


def evaluated_at(connection: Connection) -> int | None:
    """The instant of the newest evaluation, µs; None: there was never one."""
    found: int | None = connection.scalar(select(func.max(tables.evaluation.c.as_of)))
    return found
