"""What Spark makes of a batch, computed once for all tests that land the same events.

A test on SQLite and its double on PostgreSQL land the same batch, and so do the tests of a file
that begin alike. Spark's part depends on the events alone; each test merges it into its catalog.
A test that takes `monkeypatch` may have changed Spark's part, and computes its own.
"""

import shutil
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pyarrow as pa
from pyspark.sql import DataFrame

from lineage.policy import folding
from slis.stream import batch, lake
from slis.stream.batch import Batches
from slis.stream.merge import Landed, is_landed, merge


class _Computed(NamedTuple):
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

    def land(
        self, batches: Batches, key: Hashable, spooled: Callable[[], DataFrame], batch_id: int
    ) -> Landed | None:
        """Land a batch as `Batches.land` does.

        Args:
            batches: that lands it.
            key: all that the frame is made of.
            spooled: the frame.
            batch_id: its number.
        """
        if not self.is_on:
            return batches.land(spooled(), "checkpoint-1", batch_id)
        if key in self._computed:
            return self._repeat(batches, self._computed[key], batch_id)
        return self._compute(batches, key, spooled(), batch_id)

    def _compute(
        self, batches: Batches, key: Hashable, spooled: DataFrame, batch_id: int
    ) -> Landed | None:
        collected: list[tuple[Any, ...]] = []
        staged_rows = batch.staged_rows

        def note(*given: Any) -> Any:  # noqa: ANN401 - as staged_rows
            collected.append(given)
            return staged_rows(*given)

        with mock.patch.object(batch, "staged_rows", note):
            landed = batches.land(spooled, "checkpoint-1", batch_id)
        if collected:
            [(events, tables, _)] = collected
            kept = Path(self._folder.name, str(len(self._computed)))
            shutil.copytree(_lake_folder(batches, events), kept)
            self._computed[key] = _Computed(events, tables, kept)
        return landed

    def _repeat(self, batches: Batches, computed: _Computed, batch_id: int) -> Landed:
        """Merge it, in the order of `Batches.land`."""
        events, tables, kept = computed
        spool_range = batch._range(events, "checkpoint-1", batch_id)  # noqa: SLF001 - as it does
        with batches._engine.connect() as connection:  # noqa: SLF001 - as above
            if is_landed(connection, spool_range):
                return Landed(is_repeat=True)
        bounds = spool_range.after_seq, spool_range.last_seq
        folder = lake._make_room(batches._lake_dir, *bounds)  # noqa: SLF001 - as write_batch does
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        staged = batch.staged_rows(events, tables, folding(batches._policy()))  # noqa: SLF001
        return merge(batches._engine, spool_range, staged, batches._clock)  # noqa: SLF001


def _lake_folder(batches: Batches, events: pa.Table) -> Path:
    spool_range = batch._range(events, "", 0)  # noqa: SLF001 - the range is all that is needed
    first = spool_range.after_seq + 1
    name = lake._name(lake.BATCH, first, spool_range.last_seq)  # noqa: SLF001 - as write_batch does
    return batches._lake_dir / name  # noqa: SLF001 - as above


LANDINGS = Landings()
