"""Catalog in memory with the events of the lake that one question needs."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.policy import Policy, folds_of
from lineage.process.clock import Clock, system_clock
from service.errors import LakeTooLargeError
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.lake.names import adopt_names
from service.queries.lake.reading import SECONDS, LakeReading, open_reading, run_id_of
from service.queries.lake.windows import LakeSearchWindow
from service.queries.visibility import EVERYTHING, Visibility
from service.runtime.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from slis.stream.transient import TransientCatalog

# Rows of so many events take about 100 MB.
MOST_EVENTS: Final = 100_000
_WORD_OF_ID: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
# Whether a run without an end has failed is known by its root run, and by its parent.
_ABOVE_UNENDED: Final = """
    SELECT root_run_id, parent_run_id FROM run WHERE completed_at IS NULL AND failed_at IS NULL
        AND {column} IN (:keys)
"""
_IS_RUN: Final = "SELECT 1 FROM run WHERE run_id = :run_id LIMIT 1"


class LakeQuestion(msgspec.Struct, frozen=True):
    """Context of a question to the lake.

    Attributes:
        settings: of the service.
        policy: in force, which folds names.
        clock: of the service.
        visibility: permissions of the token.
        seconds: for which the lake may be read.
    """

    settings: Settings
    policy: Policy
    clock: Clock = system_clock
    visibility: Visibility = EVERYTHING
    seconds: float = SECONDS

    def ask_catalog(self) -> AbstractContextManager[CatalogSession]:
        """Return a question to the catalog; none is kept open while the lake is read."""
        return open_session(self.settings, self.clock, self.visibility)


class Recalled:
    """Catalog in memory, filled from the lake.

    Attributes:
        reading: of the lake.
    """

    def __init__(
        self, asked: LakeQuestion, reading: LakeReading, catalog: "TransientCatalog"
    ) -> None:
        """Add nothing yet."""
        self._asked, self.reading, self._catalog = asked, reading, catalog

    @property
    def unreadable(self) -> int:
        """Number of events that could not be landed."""
        return self._catalog.unreadable

    @contextmanager
    def read(self) -> Iterator[CatalogReader]:
        """Yield a reader of what was added, under the names that the catalog has."""
        with self._catalog.read() as reader:
            with self._asked.ask_catalog() as catalog:
                adopt_names(self._catalog.engine, reader, catalog.reader)
            yield reader

    def add_named(self, window: LakeSearchWindow, words: Sequence[str]) -> None:
        """Add each event that has one of these words."""
        self.reading.search(window, words, self._add)

    def add_runs(self, window: LakeSearchWindow, run_ids: Collection[str]) -> None:
        """Add the events of runs, and of the runs above those that have no end."""
        self._search_runs(window, run_ids)
        self._add_above(window, "run_id", run_ids)

    def add_run(self, window: LakeSearchWindow, run_id: str) -> None:
        """Add the events of a run; where there are none, those of the runs that it is the root of.

        A run that reported nothing itself is answered by these.
        """
        self.add_runs(window, [run_id])
        with self._catalog.read() as reader:
            is_known = bool(reader.rows(_IS_RUN, {"run_id": run_id}))
        if not is_known:
            self.add_named(window, _words([run_id]))
            self._add_above(window, "root_run_id", [run_id])

    def _add_above(self, window: LakeSearchWindow, column: str, run_ids: Collection[str]) -> None:
        with self._catalog.read() as reader:
            rows = rows_for(reader, _ABOVE_UNENDED.format(column=column), run_ids)
        above = {run_id for row in rows for run_id in row if run_id}
        self._search_runs(window, above - set(run_ids))

    def _search_runs(self, window: LakeSearchWindow, run_ids: Collection[str]) -> None:
        if not run_ids:
            return
        import pyarrow as pa  # noqa: PLC0415 - `lineage.lake.reading` says why

        def take_own(events: "pa.RecordBatch") -> None:
            # An event also names its parent. One that cannot be read here is left to the stream.
            ids = [run_id_of(body) for body in events.column("body").to_pylist()]
            is_own = [one is None or one in run_ids for one in ids]
            self._add(events.filter(pa.array(is_own, pa.bool_())))

        self.reading.search(window, _words(run_ids), take_own)

    def _add(self, events: "pa.RecordBatch") -> None:
        self._catalog.add(events)
        if self._catalog.events > MOST_EVENTS:
            message = (
                f"more than {MOST_EVENTS:,} events of the window may be of it: ask for a shorter"
                " time by from and to"
            )
            raise LakeTooLargeError(message)


@contextmanager
def open_recalled(asked: LakeQuestion) -> Iterator[Recalled]:
    """Yield an empty catalog in memory, which is gone behind the block.

    Raises:
        BusyLakeError: another question is being answered.
        UnreachableLakeError: there is no lake.
        NoDataError: the lake has no event.
    """
    # With pyspark's modules and Arrow: only who asks the lake waits for them.
    from slis.stream.transient import open_transient  # noqa: PLC0415

    with (
        open_reading(asked.settings.lake, asked.ask_catalog, asked.seconds) as reading,
        open_transient(asked.clock, folds_of(asked.policy)) as catalog,
    ):
        yield Recalled(asked, reading, catalog)


def _words(run_ids: Collection[str]) -> tuple[str, ...]:
    """Return words of which each event of these runs has one; none: all events are read."""
    found = (max(_WORD_OF_ID.findall(run_id), key=len, default="") for run_id in run_ids)
    words = sorted(set(found))
    return () if "" in words else tuple(words)
