"""What a pass over the event logs came to, as a whole: how far its silence can be believed."""

from sqlalchemy import Connection

from lineage.catalog.noted import EVIDENCE_LISTED_AT, EVIDENCE_READ_AT, EVIDENCE_UNLISTED
from slis.noted import note


def note_pass(connection: Connection, at: int, *, unlisted: int, is_whole: bool) -> None:
    """Note a pass that began at `at` (microseconds).

    Args:
        connection: inside a transaction.
        at: what was written before it, and could be listed, was listed.
        unlisted: folders that could not be listed.
        is_whole: all that was listed was read, too: what no log tells of did not happen.
    """
    told = {EVIDENCE_UNLISTED: unlisted}
    if not unlisted:
        told[EVIDENCE_LISTED_AT] = at
    if not unlisted and is_whole:
        told[EVIDENCE_READ_AT] = at
    note(connection, told)
