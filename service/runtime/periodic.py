"""What the service does beside answering: once a second, in a thread of its own.

One writes down what was served, one finds faults and tells people of them, one does what the policy
asks for. An error is logged, and the next turn comes: a catalog that is away for a minute costs no
figure, only their being up to date. Some works are the leader's alone (`service.runtime.leader`).
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
from lineage.lease import LeaseLostError
from lineage.process.health import HEALTH

EVERY_SECONDS = 1.0
_STATEMENT_SECONDS = 60.0  # of what looks at a whole estate
_MOST_CONNECTIONS = 4
log = structlog.get_logger(__name__)

Work = Callable[[Engine], None]


class PeriodicWorker:
    """Runs each work once a second against one catalog; and once more when it is stopped."""

    def __init__(  # noqa: PLR0913 - each has a default
        self,
        catalog_url: str,
        works: Sequence[Work] | Callable[[], Sequence[Work]],
        *,
        every_seconds: float = EVERY_SECONDS,
        name: str = "bookkeeping",
        is_first: bool = False,
        statement_seconds: float = _STATEMENT_SECONDS,
    ) -> None:
        """Begin nothing yet.

        Args:
            catalog_url: of the catalog.
            works: or a function that returns those of the moment.
            every_seconds: between two turns.
            name: of the thread.
            is_first: take the first turn at once, since others wait for its result.
            statement_seconds: after which a PostgreSQL ends a statement.
        """
        self._url = catalog_url
        self._works = works if callable(works) else lambda: works
        self._every_seconds = every_seconds
        self._is_first = is_first
        self._statement_seconds = statement_seconds
        self._engine: Engine | None = None
        self._parts: set[str] = set()  # names of the works of the last turn
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
        if self._is_first:
            self.turn()
        while not self._stop.wait(self._every_seconds):
            self.turn()
        self.turn()
        self._each(finish)

    def turn(self) -> None:
        """Each work once; one that fails keeps no other from its turn."""
        self._each(lambda work, engine: work(engine))

    def _each(self, call: Callable[[Work, Engine], None]) -> None:
        works = [(f"{self._thread.name}: {_name(work)}", work) for work in self._works()]
        parts = {part for part, _ in works}
        for gone in self._parts - parts:
            HEALTH.succeed(gone)  # another replica does it now
        self._parts = parts
        for part, work in works:
            try:
                if engine := self._opened():
                    call(work, engine)
            except LeaseLostError as error:
                # No failure: the work is another replica's now.
                log.warning("work_of_the_leader_undone", work=_name(work), reason=str(error))
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
                self._url, seconds=self._statement_seconds, most=_MOST_CONNECTIONS
            )
        return self._engine


def finish(work: Work, engine: Engine) -> None:
    """Have a work end what it has begun, where it has anything to end."""
    if (end := getattr(work, "finish", None)) is not None:
        end(engine)


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
