"""Deletes what the service's tables keep no longer."""

from typing import Final

import structlog
from sqlalchemy import Engine

from lineage.catalog.deleting import delete_old, retention_time
from lineage.catalog.engine import write_transaction
from lineage.process.clock import Clock
from service.runtime.settings import Settings

EVERY_SECONDS: Final = 3_600.0
_log = structlog.get_logger(__name__)


class Retention:
    """Work of an hourly job."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock

    def __call__(self, engine: Engine) -> None:
        """Delete what is too old."""
        with engine.connect() as connection:
            at = retention_time(connection, self._clock())
        settings = self._settings
        days = {"history_days": settings.history_days, "access_days": settings.access_audit_days}
        rows = delete_old(engine, "service", at, days, write_transaction)
        _log.info("retention", rows=rows)
