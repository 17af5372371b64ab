"""Catalog in memory, for events of which the catalog knows nothing any more.

The stream's own functions read the events, take out secrets and merge the facts, so that a question
about old events gets the rows that the catalog once had.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
import structlog
from sqlalchemy import Engine

from lineage.catalog.engine import open_catalog
from lineage.catalog.reader import CatalogReader, read_connection
from lineage.catalog.tables import metadata
from lineage.policy import NO_FOLDS, CompiledFolds
from lineage.process.clock import Clock
from slis.stream.facts import extract_from_table
from slis.stream.failures.causes import is_of_machine, reason_line
from slis.stream.merge.merge import LogRange, merge
from slis.stream.staging.rows import staged_rows

log = structlog.get_logger(__name__)

_QUERY: Final = "lake"  # in place of a checkpoint's id
_IN_MEMORY: Final = "sqlite://"
# A merge runs a hundred statements, however few events it has.
_PIECE_ROWS: Final = 5_000
_PIECE_BYTES: Final = 32 << 20


class TransientCatalog:
    """Catalog that one thread fills and reads.

    Attributes:
        engine: of the catalog.
        unreadable: events by which a merge failed: the pipeline set them aside.
    """

    def __init__(self, engine: Engine, clock: Clock, folds: CompiledFolds = NO_FOLDS) -> None:
        """Land nothing yet.

        Args:
            engine: of an empty catalog.
            clock: gives `landed_at`.
            folds: of the policy.
        """
        self.engine, self._clock, self._folds = engine, clock, folds
        self._waiting: list[pa.RecordBatch] = []
        self._batches = 0
        self._seen: set[int] = set()
        self.unreadable = 0

    @property
    def events(self) -> int:
        """Number of the events that were given."""
        return len(self._seen)

    def add(self, events: pa.RecordBatch) -> None:
        """Land events, each once, when there are enough of them for a merge."""
        seqs = events.column("seq").to_pylist()
        fresh = [seq not in self._seen for seq in seqs]
        self._seen.update(seqs)
        # A copy: a filtered batch would keep the whole one in memory.
        self._waiting.append(events.filter(pa.array(fresh, pa.bool_())))
        rows = sum(batch.num_rows for batch in self._waiting)
        if rows >= _PIECE_ROWS or sum(batch.nbytes for batch in self._waiting) >= _PIECE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Land all events that were added."""
        waiting = [batch for batch in self._waiting if batch.num_rows]
        self._waiting = []
        if waiting:
            self._land(_as_from_log(pa.Table.from_batches(waiting)))

    @contextmanager
    def read(self) -> Iterator[CatalogReader]:
        """Yield a reader of all events that were added."""
        self.flush()
        connection = self.engine.raw_connection()
        try:
            yield read_connection(connection.driver_connection)
        finally:
            connection.close()

    def _land(self, events: pa.Table) -> None:
        try:
            self._merge(events)
        except Exception as error:
            if is_of_machine(error):
                raise
            # As the stream sets events aside: half by half, until one fails alone.
            if events.num_rows == 1:
                self.unreadable += 1
                seq = events["seq"][0].as_py()
                log.info("lake_event_unreadable", seq=seq, error=reason_line(error))
                return
            half = events.num_rows // 2
            self._land(events.slice(0, half))
            self._land(events.slice(half))

    def _merge(self, events: pa.Table) -> None:
        rows = staged_rows(extract_from_table(events), self._folds)
        merge(
            self.engine,
            LogRange(_QUERY, self._batches, self._batches, self._batches + 1),
            rows,
            self._clock,
        )
        self._batches += 1


@contextmanager
def open_transient(clock: Clock, folds: CompiledFolds = NO_FOLDS) -> Iterator[TransientCatalog]:
    """Yield an empty catalog in memory, which is gone behind the block."""
    engine = open_catalog(_IN_MEMORY)
    try:
        metadata.create_all(engine)
        yield TransientCatalog(engine, clock, folds)
    finally:
        engine.dispose()


def _as_from_log(events: pa.Table) -> pa.Table:
    """Return events of the lake with their time as the log has it."""
    received = events["received_at"].cast(pa.int64())
    return events.set_column(events.column_names.index("received_at"), "received_at", received)
