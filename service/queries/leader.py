"""Reads which of several services leads, for people."""

from typing import Final

import msgspec

from lineage.catalog.reader import Reader
from service.queries.run_shapes import Instant
from service.queries.timestamps import iso

_LEASE: Final = (
    "SELECT holder, since, expires_at > {now} AS is_leading FROM lease"
    " WHERE name = 'service' AND epoch > 0"
)


class ServiceLeader(msgspec.Struct, frozen=True):
    """Service that finds incidents and sends notifications.

    Attributes:
        replica: its name; of the last one, where none leads now.
        since: when it began to lead, by the clock of the catalog's database.
        is_leading: its lease has not expired.
    """

    replica: str
    since: Instant | None
    is_leading: bool


def find_leader(reader: Reader) -> ServiceLeader | None:
    """Return which service leads; None: none has led yet."""
    rows = reader.rows(_LEASE.format(now=reader.clock))
    if not rows:
        return None
    (row,) = rows
    return ServiceLeader(row.holder, iso(row.since), bool(row.is_leading))
