"""What Spark makes of a batch, computed once for all tests that land the same events.

A test on SQLite and its double on PostgreSQL land the same batch, and so do the tests of a file
that begin alike. Spark's part depends on the events alone, and on their numbers only in so far as
each row has its own; each test merges it into its catalog. A test that takes `monkeypatch` may have
changed Spark's part, and computes its own unless it says that it has not.
"""

import shutil
import tempfile
from collections.abc import Callable, Hashable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from lineage.policy import folding
from slis.stream import batch, lake
from slis.stream.batch import Batches
from slis.stream.event_log import Portion
from slis.stream.landing import Landing
from slis.stream.merge import Landed, Store, is_landed, pass_over, store_nothing
from slis.stream.source import SPOOL_COLUMNS

_COLUMNS = SPOOL_COLUMNS.names
_NUMBERS = ("seq", "after_seq", "last_seq")
# A batch of a test of speed or size is not kept: nobody lands it twice.
_MOST_EVENTS, _MOST_BYTES = 300, 1 << 24


class _Computed(NamedTuple):
    after_seq: int
    events: pa.Table
    tables: dict[str, pa.Table]
    lake: Path


class Landings:
    """Remembers what Spark made of each batch.

    Attributes:
        is_on: whether it may be used in this test.
    """

    def __init__(self) -> None:
        self.is_on = True
        self._computed: dict[Hashable, _Computed] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="lineward-landings-")

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
        staged_rows = batch.staged_rows

        def note(*given: Any) -> Any:  # noqa: ANN401 - as staged_rows
            collected.append(given)
            return staged_rows(*given)

        try:
            with mock.patch.object(batch, "staged_rows", note):
                return batches.land(spooled, *named)
        finally:
            for events, tables, _ in collected:
                written = _lake_folder(batches, events)
                if (written / "_SUCCESS").exists():
                    kept = Path(self._folder.name, str(len(self._computed)))
                    shutil.copytree(written, kept)
                    after_seq = events["after_seq"][0].as_py()
                    self._computed[key] = _Computed(after_seq, events, tables, kept)

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
        with batches._engine.connect() as connection:  # noqa: SLF001 - as above
            if is_landed(connection, spool_range):
                return Landed(is_repeat=True)
        bounds = spool_range.after_seq, spool_range.last_seq
        folder = lake._make_room(batches._lake_dir, *bounds)  # noqa: SLF001 - as write_batch does
        _copy_lake(computed.lake, folder, later)
        staged = batch.staged_rows(events, computed.tables, folding(batches._policy()))  # noqa: SLF001
        return batch.merge(batches._engine, spool_range, staged, batches._clock, store)  # noqa: SLF001


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


def _copy_lake(kept: Path, folder: Path, later: int) -> None:
    """Copy Spark's own files; only where the numbers differ are they written anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(kept, folder)
    for path in folder.rglob("*.parquet") if later else ():
        table = pq.ParquetFile(path).read()
        pq.write_table(_numbered(table, later), path, use_deprecated_int96_timestamps=True)
        path.with_name(f".{path.name}.crc").unlink()


def _lake_folder(batches: Batches, events: pa.Table) -> Path:
    spool_range = batch._range(events, "", 0)  # noqa: SLF001 - the range is all that is needed
    first = spool_range.after_seq + 1
    name = lake._name(lake.BATCH, first, spool_range.last_seq)  # noqa: SLF001 - as write_batch does
    return batches._lake_dir / name  # noqa: SLF001 - as above


LANDINGS = Landings()


class RememberingLanding(Landing):
    """Lands as ever; Spark's part of a batch that was landed before is taken from there."""

    def _land(self, portion: Portion) -> Landed | None:
        events = portion.table()
        if not events.num_rows:
            pass_over(self._engine, portion.store)
            return None
        rows = list(zip(*(events[name].to_pylist() for name in _COLUMNS), strict=True))
        last_seq = events["last_seq"][0].as_py()

        def spooled() -> DataFrame:
            return self._spark.createDataFrame(events)

        given = "spool", last_seq, portion.store
        return LANDINGS.land(self._batches, rows, spooled, *given)
