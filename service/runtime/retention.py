"""Deletes what the service's tables keep no longer, once an hour."""

import time
from typing import Final

import structlog
from sqlalchemy import Engine

from lineage.catalog.deleting import delete_old, retention_time
from lineage.catalog.engine import write_transaction
from lineage.periods import Monotonic, Period
from lineage.process.clock import Clock
from service.runtime.settings import Settings

_EVERY_SECONDS: Final = 3_600.0
_log = structlog.get_logger(__name__)


class Retention:
    """One work of the service, called each second."""

    def __init__(
        self, settings: Settings, clock: Clock, monotonic: Monotonic = time.monotonic
    ) -> None:
        self._clock = clock
        self._turns = Period(_EVERY_SECONDS, monotonic)
        self._settings = settings

    def __call__(self, engine: Engine) -> None:
        """Delete what is too old, where it is time."""
        if self._turns.is_due():
            with self._turns.turn():
                self._delete(engine)

    def _delete(self, engine: Engine) -> None:
        with engine.connect() as connection:
            at = retention_time(connection, self._clock())
        settings = self._settings
        days = {"history_days": settings.history_days, "access_days": settings.access_audit_days}
        rows = delete_old(engine, "service", at, days, write_transaction)
        _log.info("retention", rows=rows)
