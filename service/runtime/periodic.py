"""Periodic work on a catalog: `service.runtime.catalog_jobs` makes jobs of it."""

from collections.abc import Callable

from sqlalchemy import Engine

from lineage.catalog.reader import NoCatalogError, open_reader
from lineage.catalog.revision import require_revision

Work = Callable[[Engine], None]


def finish(work: Work, engine: Engine) -> None:
    """Have a work end what it has begun, where it has anything to end."""
    if (end := getattr(work, "finish", None)) is not None:
        end(engine)


def is_there(catalog_url: str) -> bool:
    """Return whether there is a catalog: the service never makes one by asking.

    Raises:
        CatalogError: it is of another release, or cannot be read.
    """
    try:
        with open_reader(catalog_url) as reader:
            require_revision(reader)
    except NoCatalogError:
        return False
    return True
