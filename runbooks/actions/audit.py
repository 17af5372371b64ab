"""Audit log of actions: every call has its rows, dry or not, rejected or not."""

from sqlalchemy import Engine

from alerts.operator_actions.audit import Entry, Via
from alerts.operator_actions.audit import record as add
from lineage.catalog.engine import write_transaction

__all__ = ["Entry", "Via", "record"]


def record(engine: Engine, entry: Entry) -> None:
    """Add a row; durable when this returns.

    Its answer is `done`, `dry run`, or why not; none while it is being done, or its process died.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: it is not.
    """
    with write_transaction(engine) as connection:
        add(connection, entry)
