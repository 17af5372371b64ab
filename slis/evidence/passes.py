"""Result of a pass over the event logs as a whole: whether missing logs prove anything."""

from sqlalchemy import Connection

from lineage.catalog.meta_keys import EVIDENCE_LISTED_AT, EVIDENCE_READ_AT, EVIDENCE_UNLISTED
from slis.meta import put_meta


def note_pass(connection: Connection, at: int, *, unlisted: int, is_whole: bool) -> None:
    """Note a pass that began at `at` (microseconds).

    Args:
        connection: inside a transaction.
        at: what was written before it, and could be listed, was listed.
        unlisted: folders that could not be listed.
        is_whole: all that was listed was read, too: what no log reports did not happen.
    """
    notes = {EVIDENCE_UNLISTED: unlisted}
    if not unlisted:
        notes[EVIDENCE_LISTED_AT] = at
    if not unlisted and is_whole:
        notes[EVIDENCE_READ_AT] = at
    put_meta(connection, notes)
