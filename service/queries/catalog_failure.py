"""Failures of the catalog's database during a request, each as an error that names the catalog."""

import sqlite3

from lineage.catalog import trouble
from lineage.catalog.trouble import CatalogError
from service.errors import UnreachableError
from service.queries.catalog_session import unreachable_error
from service.runtime.settings import Settings

_UNFINISHED = "The request was not finished; `lineward audit` shows whether it began"


def catalog_failure(error: Exception, settings: Settings) -> UnreachableError | None:
    """Return the error to report for a failure of SQLite or PostgreSQL; None for any other."""
    # SQLAlchemy has the error of the driver in `orig`.
    found = _explain(getattr(error, "orig", error), settings)
    return None if found is None else UnreachableError(f"{unreachable_error(found)}. {_UNFINISHED}")


def _explain(error: BaseException, settings: Settings) -> CatalogError | None:
    if isinstance(error, sqlite3.Error):
        return trouble.explain_error(error, sqlite_file(settings) or "")
    if sqlite_file(settings) is not None:
        return None
    from lineage.catalog.postgres import explain_error  # noqa: PLC0415 - psycopg only where it is used

    return explain_error(error)


def sqlite_file(settings: Settings) -> str | None:
    """Return the path of an embedded catalog; None for PostgreSQL."""
    path = settings.catalog.removeprefix("sqlite:///")
    return None if path == settings.catalog else path
