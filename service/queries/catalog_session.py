"""Session on the catalog for one query of the command line or of the API."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from lineage.catalog.reader import (
    QUERY_SECONDS,
    CatalogReader,
    NoCatalogError,
    UnreachableCatalogError,
    open_reader,
)
from lineage.catalog.revision import require_revision
from lineage.catalog.trouble import CatalogError, explain_sqlite_error
from lineage.graph.walks import Walk
from lineage.process.clock import Clock, system_clock
from service.errors import NoDataError, UnreachableError
from service.queries.timestamps import Evaluated, last_evaluation
from service.queries.visibility import EVERYTHING, Visibility, hidden_keys
from service.runtime.settings import Settings

_UNFINISHED = "The request was not finished; `lineward audit` shows whether it began"


class Live(Protocol):
    """Graph in memory (`lineage.graph.cache`): commands that ask once do not wait for numpy."""

    def walked(  # noqa: PLR0913, PLR0917 - as `lineage.graph.cache` has it
        self,
        way: str,
        starts: Iterable[int],
        depth: int,
        most: int,
        sees: Callable[[str], bool] | None = None,
        hidden: Iterable[int] = (),
    ) -> Walk:
        """Return all datasets that are reached from these in one direction."""
        ...

    def named(self, keys: Sequence[int]) -> list[tuple[str, str] | None]:
        """Return the namespace and name of each of these; none of those without edges."""
        ...

    def states_of(
        self, keys: Sequence[int], judged: tuple[int | None, str | None]
    ) -> list[str | None] | None:
        """Return the most severe state of each, or None if the cache has another evaluation."""
        ...

    def policies_of(self, keys: Sequence[int]) -> list[tuple[str, str | None] | None]:
        """Return tier and owner of each of these; none of what the policy was not resolved for."""
        ...


class CatalogSession(msgspec.Struct, frozen=True):
    """Session of one query: all reads see one moment of the catalog.

    Attributes:
        live: the graph of up to five seconds before; none: of that moment too.
    """

    reader: CatalogReader
    evaluated: Evaluated
    now: datetime
    visibility: Visibility = EVERYTHING
    live: Live | None = None


@contextmanager
def open_session(
    settings: Settings,
    clock: Clock = system_clock,
    visibility: Visibility = EVERYTHING,
    live: Live | None = None,
    *,
    seconds: float = QUERY_SECONDS,
) -> Iterator[CatalogSession]:
    """Open a session of the catalog with this visibility.

    A statement may take `seconds` of a PostgreSQL.

    Raises:
        NoDataError: there is none yet; the text says how to come by one.
        UnreachableError: its server does not answer, or its file cannot be read.
    """
    now = clock()
    try:
        with open_reader(settings.catalog, seconds=seconds) as reader:
            require_revision(reader)
            stale = settings.stale_evaluation_seconds
            evaluated = last_evaluation(reader, now=now, stale_seconds=stale)
            shown = visibility.without(hidden_keys(reader, visibility))
            yield CatalogSession(reader, evaluated, now, shown, live)
    except NoCatalogError as error:
        raise NoDataError(filling_advice(settings)) from error
    except CatalogError as error:
        raise unreachable_error(error) from error


def unreachable_error(error: CatalogError) -> UnreachableError:
    """Return the error to report for a catalog error; it names the setting of the address."""
    if not isinstance(error, UnreachableCatalogError):
        return UnreachableError(str(error))
    return UnreachableError(f"LINEWARD_CATALOG_URL: the catalog cannot be reached: {error}")


def catalog_failure(error: Exception, settings: Settings) -> UnreachableError | None:
    """Return the error to report for a failure of SQLite or PostgreSQL; None for any other."""
    # SQLAlchemy has the error of the driver in `orig`.
    found = _explain(getattr(error, "orig", error), settings)
    return None if found is None else UnreachableError(f"{unreachable_error(found)}. {_UNFINISHED}")


def _explain(error: BaseException, settings: Settings) -> CatalogError | None:
    if isinstance(error, sqlite3.Error):
        return explain_sqlite_error(error, sqlite_file(settings) or "")
    if sqlite_file(settings) is not None:
        return None
    from lineage.catalog.postgres import explain_postgres_error  # noqa: PLC0415 - psycopg only where it is used

    return explain_postgres_error(error)


def sqlite_file(settings: Settings) -> str | None:
    """Return the path of an embedded catalog; None for PostgreSQL."""
    path = settings.catalog.removeprefix("sqlite:///")
    return None if path == settings.catalog else path


def filling_advice(settings: Settings) -> str:
    """Return how to fill the catalog."""
    collector = f"{settings.own_collector}/api/v1/lineage"
    if settings.catalog_url:
        return f"the catalog is empty: start the pipeline and send events to {collector}"
    folder = settings.data_dir.absolute()
    return (
        f"no data in {folder}: {folder_advice(folder)} and send OpenLineage events to {collector}"
    )


def folder_advice(folder: Path) -> str:
    """Return what to do about an empty data folder: it may be the wrong one."""
    return (
        f"is LINEWARD_DATA_DIR right? In a new installation, run `lineward up --data-dir {folder}`"
    )
