"""What Spark makes of a batch, computed once for all tests that land the same events.

A test on SQLite and its double on PostgreSQL land the same batch, and so do the tests of a file
that begin alike. Spark's part depends on the events alone, and on their numbers only in so far as
each row has its own; each test merges it into its catalog. A test that takes `monkeypatch` may have
changed Spark's part, and computes its own unless it says that it has not.
"""

from collections.abc import Callable, Hashable
from hashlib import sha256
from typing import Any, NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from lineage.policy import folding
from slis.lake import batches as lake_batches
from slis.stream import batch
from slis.stream.batch import Batches
from slis.stream.event_log import Portion
from slis.stream.landing import Landing
from slis.stream.merge import Landed, Store, is_landed, store_nothing
from slis.stream.source import SPOOL_COLUMNS

_COLUMNS = SPOOL_COLUMNS.names
_NUMBERS = ("seq", "after_seq", "last_seq")
# A batch of a test of speed or size is not kept: nobody lands it twice.
_MOST_EVENTS, _MOST_BYTES = 300, 1 << 24


class _Computed(NamedTuple):
    after_seq: int
    events: pa.Table
    tables: dict[str, pa.Table]
    raw: pa.Table


class Landings:
    """Remembers what Spark made of each batch.

    Attributes:
        is_on: whether it may be used in this test.
    """

    def __init__(self) -> None:
        self.is_on = True
        self._computed: dict[Hashable, _Computed] = {}

    def land(  # noqa: PLR0913, PLR0917 - as `Batches.land`
        self,
        batches: Batches,
        rows: list[tuple[Any, ...]],
        spooled: Callable[[], DataFrame],
        query_id: str,
        batch_id: int,
        store: Store = store_nothing,
    ) -> Landed | None:
        """Land a batch as `Batches.land` does.

        Args:
            batches: that lands it.
            rows: all that the frame is made of, as `source.SPOOL_COLUMNS`.
            spooled: the frame.
            query_id: of the batch.
            batch_id: its number.
            store: writes the position of the log.
        """
        if not self.is_on or not _is_small(rows):
            return batches.land(spooled(), query_id, batch_id, store)
        key = _key(rows)
        if key not in self._computed:
            return self._compute(batches, key, spooled(), (query_id, batch_id, store))
        after_seq = rows[0][_COLUMNS.index("after_seq")]
        return self._repeat(batches, self._computed[key], after_seq, (query_id, batch_id, store))

    def _compute(
        self, batches: Batches, key: Hashable, spooled: DataFrame, named: tuple[str, int, Store]
    ) -> Landed | None:
        """Land it; what Spark made of it is kept also where the test has what follows fail."""
        collected: list[tuple[Any, ...]] = []
        raw: list[pa.Table] = []
        staged_rows, write_raw = batch.staged_rows, lake_batches.write_raw

        def note(*given: Any) -> Any:  # noqa: ANN401 - as staged_rows
            collected.append(given)
            return staged_rows(*given)

        def note_raw(events: pa.Table, *given: Any) -> Any:  # noqa: ANN401 - as write_raw
            raw.append(events)
            return write_raw(events, *given)

        try:
            with (
                mock.patch.object(batch, "staged_rows", note),
                mock.patch.object(lake_batches, "write_raw", note_raw),
            ):
                return batches.land(spooled, *named)
        finally:
            for (events, tables, _), written in zip(collected, raw, strict=False):
                after_seq = events["after_seq"][0].as_py()
                self._computed[key] = _Computed(after_seq, events, tables, written)

    def _repeat(
        self,
        batches: Batches,
        computed: _Computed,
        after_seq: int,
        named: tuple[str, int, Store],
    ) -> Landed:
        """Merge it, in the order of `Batches.land`."""
        query_id, batch_id, store = named
        later = after_seq - computed.after_seq
        events = _numbered(computed.events, later)
        spool_range = batch._range(events, query_id, batch_id)  # noqa: SLF001 - as it does
        with batches.writer.engine.connect() as connection:
            if is_landed(connection, spool_range):
                return Landed(is_repeat=True)
        batches.writer.try_delete_failed()
        with batches._folder(spool_range) as name:  # noqa: SLF001 - as above
            raw = _numbered(computed.raw, later)
            folders = lake_batches.write_raw(raw, batches.writer.lake, name)
            staged = batch.staged_rows(events, computed.tables, folding(batches._policy()))  # noqa: SLF001
            return batches.commit(spool_range, staged, name, folders, store)


def _is_small(rows: list[tuple[Any, ...]]) -> bool:
    body = _COLUMNS.index("body")
    return 0 < len(rows) <= _MOST_EVENTS and sum(len(row[body]) for row in rows) <= _MOST_BYTES


def _key(rows: list[tuple[Any, ...]]) -> Hashable:
    """Return what the rows say, by numbers counted from the beginning of their range."""
    named = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    for row in named:
        row["seq"] -= row["after_seq"]
        row["last_seq"] -= row.pop("after_seq")
        row["body"] = sha256(row["body"]).digest()
    return tuple(tuple(row.values()) for row in named)


def _numbered(events: pa.Table, later: int) -> pa.Table:
    for place, name in enumerate(events.column_names):
        if name in _NUMBERS:
            column = pc.add(events[name], later).cast(events[name].type)
            events = events.set_column(place, events.schema.field(place), column)
    return events


LANDINGS = Landings()


class RememberingLanding(Landing):
    """Lands as ever; Spark's part of a batch that was landed before is taken from there."""

    def _land(self, portion: Portion) -> Landed | None:
        events = portion.table()
        if not events.num_rows:
            self._writer.pass_over(portion.store)
            return None
        rows = list(zip(*(events[name].to_pylist() for name in _COLUMNS), strict=True))
        last_seq = events["last_seq"][0].as_py()

        def spooled() -> DataFrame:
            return self._spark.createDataFrame(events)

        given = "spool", last_seq, portion.store
        return LANDINGS.land(self._batches, rows, spooled, *given)
