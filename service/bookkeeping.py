"""What the service does beside answering: once a second, in a thread of its own.

One writes down what was served, one finds faults and tells people of them, one does what the policy
asks for. An error is logged, and the next turn comes: a catalog that is away for a minute costs no
figure, only their being up to date.
"""

import threading
from collections.abc import Callable, Sequence

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from lineage.catalog.engine import open_catalog
from lineage.catalog.reader import NoCatalogError, open_reader
from lineage.catalog.revision import require_revision
from lineage.catalog.trouble import CatalogError
from lineage.health import HEALTH

EVERY_SECONDS = 1.0
_STATEMENT_SECONDS = 60.0  # of what looks at a whole estate
_MOST_CONNECTIONS = 4
log = structlog.get_logger(__name__)

Work = Callable[[Engine], None]


class Bookkeeper:
    """Runs each work once a second against one catalog; and once more when it is stopped."""

    def __init__(
        self,
        catalog_url: str,
        works: Sequence[Work],
        *,
        every_seconds: float = EVERY_SECONDS,
        name: str = "bookkeeping",
    ) -> None:
        self._url = catalog_url
        self._works = works
        self._every_seconds = every_seconds
        self._engine: Engine | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Write down what is left, and end."""
        self._stop.set()
        self._thread.join()
        if self._engine is not None:
            self._engine.dispose()

    def _run(self) -> None:
        while not self._stop.wait(self._every_seconds):
            self.turn()
        self.turn()

    def turn(self) -> None:
        """Each work once; one that fails keeps no other from its turn."""
        for work in self._works:
            part = f"{self._thread.name}: {_name(work)}"
            try:
                if engine := self._opened():
                    work(engine)
            except (SQLAlchemyError, CatalogError) as error:
                HEALTH.fail(part, str(error))
                log.warning("catalog_unavailable", work=_name(work), error=str(error)[:200])
            except Exception as error:  # the edge of a thread: logged, and carried on
                HEALTH.fail(part, f"{type(error).__name__}: {error}")
                log.exception("bookkeeping_failed", work=_name(work))
            else:
                HEALTH.succeed(part)

    def _opened(self) -> Engine | None:
        if self._engine is None and is_there(self._url):
            self._engine = open_catalog(
                self._url, seconds=_STATEMENT_SECONDS, most=_MOST_CONNECTIONS
            )
        return self._engine


def is_there(catalog_url: str) -> bool:
    """Whether there is a catalog: the service never makes one by asking.

    Raises:
        CatalogError: it is of another release, or cannot be read.
    """
    try:
        with open_reader(catalog_url) as reader:
            require_revision(reader)
    except NoCatalogError:
        return False
    return True


def _name(work: Work) -> str:
    """Return a name that tells works apart in a log: of a function, or of an object's class."""
    target = getattr(work, "func", work)
    return str(getattr(target, "__qualname__", type(target).__qualname__))
