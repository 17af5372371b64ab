"""Positions of the readers of the spool."""

from sqlalchemy import select

from collector.high_water import Cursors
from collector.settings import CollectorLocation
from collector.shipper.position import read_position
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.catalog.tables import reader_cursor
from lineage.catalog.tables.marquez import READER


def read_cursors(place: CollectorLocation) -> Cursors | None:
    """Return the cursors, or None without a catalog or a reader.

    A forwarder that is wanted and has not begun has passed nothing; one that is no longer wanted
    holds nothing up.

    Raises:
        SQLAlchemyError: the catalog cannot be read.
        OSError: the shipper's position cannot be read, nor where it is damaged (DecodeError).
    """
    if place.is_shipped:
        # Without a look into the catalog, for which this collector has no password.
        position = read_position(place.data_dir)
        return None if position is None else Cursors(position.seq, position.seq, position.seq)
    if place.catalog_url is None and not (place.data_dir / "catalog.db").exists():
        return None
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
