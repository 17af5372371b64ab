"""Positions of the readers of the spool."""

import sqlite3
from typing import NamedTuple

import structlog

from collector import metrics
from collector.settings import CollectorLocation
from collector.shipper.position import read_position
from lineage.catalog.trouble import CatalogError

_log = structlog.get_logger()


class Cursors(NamedTuple):
    """Sequence numbers that readers have passed.

    Attributes:
        lowest: every reader has.
        needed: every reader has whose events nobody else keeps: all but the one that forwards.
        highest: any reader has.
    """

    lowest: int
    needed: int
    highest: int


NOT_READ = Cursors(0, 0, 0)


def read_cursors(place: CollectorLocation) -> Cursors | None:
    """Return the cursors, or None without a catalog or a reader.

    A forwarder that is wanted and has not begun has passed nothing; one that is no longer wanted
    holds nothing up.

    Raises:
        SQLAlchemyError: the catalog cannot be read.
        OSError: the shipper's position cannot be read.
        DecodeError: the shipper's position is damaged.
    """
    if place.is_shipped:
        # Without a look into the catalog, for which this collector has no password.
        position = read_position(place.data_dir)
        return None if position is None else Cursors(position.seq, position.seq, position.seq)
    if place.catalog_url is None and not (place.data_dir / "catalog.db").exists():
        return None
    # SQLAlchemy takes a third of a second to import, which the first event must not wait for.
    from sqlalchemy import select  # noqa: PLC0415 - as above

    from lineage.catalog.engine import catalog_url, open_catalog  # noqa: PLC0415
    from lineage.catalog.tables import reader_cursor  # noqa: PLC0415
    from lineage.catalog.tables.marquez import READER  # noqa: PLC0415

    engine = open_catalog(place.catalog_url or catalog_url(place.data_dir))
    try:
        with engine.connect() as connection:
            rows = connection.execute(select(reader_cursor.c.reader, reader_cursor.c.seq))
            found: dict[str, int] = {row.reader: row.seq for row in rows}
    finally:
        engine.dispose()
    forwarded = found.pop(READER, 0)
    if not found:
        return None
    needed = min(found.values())
    lowest = min(needed, forwarded) if place.forwards else needed
    return Cursors(lowest, needed, max(forwarded, *found.values()))


def read_or_nothing(place: CollectorLocation) -> Cursors:
    """Return what readers have passed; nothing if the catalog cannot be read."""
    from msgspec import DecodeError  # noqa: PLC0415 - as in `read_cursors`
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - as in `read_cursors`

    try:
        return read_cursors(place) or NOT_READ
    except (SQLAlchemyError, CatalogError, sqlite3.Error, OSError, DecodeError) as error:
        metrics.PRUNE_FAILURES.inc()
        _log.warning("cursors_unreadable", error=str(error)[:200])
        return NOT_READ
