"""How far the readers of the spool have come."""

from sqlalchemy import func, select

from collector.settings import Place
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.catalog.tables import reader_cursor


def lowest_cursor(place: Place) -> int | None:
    """Sequence number that every reader has passed; None without a catalog or a reader.

    Raises:
        SQLAlchemyError: the catalog cannot be read.
    """
    if place.catalog_url is None and not (place.data_dir / "catalog.db").exists():
        return None
    engine = open_catalog(place.catalog_url or catalog_url(place.data_dir))
    try:
        with engine.connect() as connection:
            lowest: int | None = connection.scalar(select(func.min(reader_cursor.c.seq)))
            return lowest
    finally:
        engine.dispose()
