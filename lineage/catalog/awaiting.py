"""Wait of a role, before it works, for a catalog that it can use."""

from collections.abc import Callable
from threading import Event

import structlog

from lineage.catalog.trouble import CatalogError
from lineage.process.health import HEALTH

_PART = "catalog"
_EVERY_SECONDS = 2.0
log = structlog.get_logger(__name__)


def await_catalog(ready: Callable[[], object], stopped: Event) -> bool:
    """Try until `ready` raises no CatalogError; return whether that was before `stopped` was set.

    What is wrong is reported and logged. It ends without a restart: someone restores a file, or
    starts the server or the right release.
    """
    while not stopped.is_set():
        try:
            ready()
        except CatalogError as error:
            HEALTH.fail(_PART, str(error))
            log.error("catalog_not_ready", error=str(error))  # noqa: TRY400 - the message says all
            stopped.wait(_EVERY_SECONDS)
        else:
            HEALTH.succeed(_PART)
            return True
    return False
