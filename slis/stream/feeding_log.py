"""Notes which kind of log feeds the catalog, and rejects the other kind.

Spool and topic number their records each on its own: the position in one says nothing of the other.
"""

from typing import Final

from sqlalchemy import Connection, Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import LOG
from slis.meta import put_meta, read_meta
from slis.stream.merge import cursor

SPOOL: Final = "spool"
KAFKA: Final = "kafka"
_NAMES = {SPOOL: "the spool", KAFKA: "a topic of Kafka"}


def find_other_log(engine: Engine, kind: str, replaces: str) -> str | None:
    """Return which other kind of log has fed the catalog, and what to do.

    Args:
        engine: of the catalog.
        kind: of the log that is to feed the catalog.
        replaces: the kind that the operator agrees to leave; empty: none.
    """
    with engine.connect() as connection:
        before = _read_kind(connection)
    if before in {None, kind, replaces}:
        return None
    return (
        f"{_NAMES[before]} has fed this catalog, but LINEWARD_LOG names {_NAMES[kind]}. The "
        "position of one log does not fit the other: events would be skipped, or land twice. Set "
        'LINEWARD_LOG as it was, or follow "Change the log" in docs/operations.md, of which the '
        f"last step is LINEWARD_LOG_REPLACES={before}."
    )


def note_log(engine: Engine, kind: str) -> None:
    """Note that this kind of log feeds the catalog from now on."""
    with engine.connect() as connection:
        is_noted = read_meta(connection, LOG) == kind
    if not is_noted:
        with exclusive_transaction(engine) as connection:
            put_meta(connection, {LOG: kind})


def _read_kind(connection: Connection) -> str | None:
    """Return what was noted; a catalog of an older release shows it by its positions."""
    if kind := read_meta(connection, LOG):
        return kind
    if connection.scalar(select(tables.log_position.c.topic).limit(1)) is not None:
        return KAFKA
    return SPOOL if cursor(connection) else None
