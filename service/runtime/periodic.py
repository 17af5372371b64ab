"""Periodic tasks on a catalog, of which `catalog_jobs` makes jobs; and the one of retention."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event
from typing import Final

import structlog
from sqlalchemy import Connection, Engine

from lineage.catalog.deleting import delete_old, retention_time
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import NoCatalogError, open_reader
from lineage.catalog.revision import require_revision
from lineage.process.clock import Clock
from service.runtime.settings import Settings

CatalogTask = Callable[[Engine], None]

RETENTION_SECONDS: Final = 3_600.0
_log = structlog.get_logger(__name__)


def finish_task(task: CatalogTask, engine: Engine) -> None:
    """Have a task end what it has begun, where it has anything to end."""
    if (end := getattr(task, "finish", None)) is not None:
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


class _StoppedError(Exception):
    """Error: the role stops; the next run deletes what is left."""


class Retention:
    """Task of an hourly job. It ends before the next transaction once `stopping` is set."""

    def __init__(self, settings: Settings, clock: Clock, stopping: Event) -> None:
        self._settings, self._clock, self._stopping = settings, clock, stopping

    def __call__(self, engine: Engine) -> None:
        """Delete what is too old."""
        with engine.connect() as connection:
            at = retention_time(connection, self._clock())
        settings = self._settings
        days = {"history_days": settings.history_days, "access_days": settings.access_audit_days}
        try:
            rows = delete_old(engine, "service", at, days, self._write)
        except _StoppedError:
            _log.info("retention_interrupted")
        else:
            _log.info("retention", rows=rows)

    def _write(self, engine: Engine) -> AbstractContextManager[Connection]:
        if self._stopping.is_set():
            raise _StoppedError
        return write_transaction(engine)
