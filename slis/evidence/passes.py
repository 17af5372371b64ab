"""What a pass over the event logs came to, as a whole: how far its silence can be believed."""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from lineage.catalog import tables
from slis.stream.upsert import fold_rows

LISTED_AT = "evidence_listed_at"  # the last pass that could list all of its folders
READ_AT = "evidence_read_at"  # the last that moreover read all that they held
UNLISTED = "evidence_unlisted_folders"  # how many the last pass could not list
JOINED_TO = "evidence_joined_to"  # the last event that had landed when all was joined last


def note(connection: Connection, told: Mapping[str, int]) -> None:
    """Keep these numbers under their names."""
    rows = [{"name": name, "value": str(value)} for name, value in told.items()]
    fold_rows(connection, tables.meta, rows)


def note_pass(connection: Connection, at: int, *, unlisted: int, is_whole: bool) -> None:
    """Note a pass that began at `at` (microseconds).

    Args:
        connection: inside a transaction.
        at: what was written before it, and could be listed, was listed.
        unlisted: folders that could not be listed.
        is_whole: all that was listed was read, too: what no log tells of did not happen.
    """
    told = {UNLISTED: unlisted}
    if not unlisted:
        told[LISTED_AT] = at
    if not unlisted and is_whole:
        told[READ_AT] = at
    note(connection, told)


def noted(connection: Connection, name: str) -> int | None:
    """What the last passes noted under a name; null: none did."""
    meta = tables.meta.c
    found = connection.scalar(select(meta.value).where(meta.name == name))
    return None if found is None else int(found)
