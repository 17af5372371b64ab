"""Batches: from the events of the log to the lake and the catalog."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager

import pyarrow as pa
from pyspark.sql import DataFrame
from sqlalchemy import Connection, Engine

from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from lineage.policy import DEFAULT, Policy, folds_of
from lineage.process.clock import Clock
from slis.lake.batches import record_folders, with_times, write_raw
from slis.lake.names import BATCH, FolderName
from slis.lake.writer import LakeWriter
from slis.spark import garbage_collection
from slis.spark.garbage_collection import no_search
from slis.spark.session import in_stream_pool
from slis.stream.facts import Facts, extract_from_table, times_of
from slis.stream.merge.merge import (
    LogRange,
    MergeResult,
    MergeStep,
    is_landed,
    merge,
    rehearse,
    store_nothing,
)
from slis.stream.on_executors import BatchReader, Note, extract_on_executors
from slis.stream.staging.rows import staged_rows
from slis.stream.staging.staging import StagedRows

_CONTROL = "control"
Beside = Callable[[Lake, FolderName], None]  # writes to the folder of a batch


def write_nothing(_lake: Lake, _name: FolderName) -> None:
    """Write nothing: the events are all that the folder has."""


class Batches:
    """Landing of batches, exactly once each.

    Keeps nothing between them: a killed driver repeats a batch from its rows.
    """

    def __init__(
        self,
        writer: LakeWriter,
        clock: Clock,
        policy: Callable[[], Policy] = lambda: DEFAULT,
        *,
        are_history: bool = False,
    ) -> None:
        """Land nothing yet.

        Args:
            writer: of the lake, beside the catalog.
            clock: gives `landed_at`.
            policy: asked once a batch: its folds hold from the next one on.
            are_history: the events come from the lake. They count in no SLI, since the catalog
                that landed them first counted them.
        """
        self.writer = writer
        self._engine: Engine = writer.engine
        self._policy = policy
        self._clock = clock
        self._are_history = are_history

    def land(
        self,
        events: pa.Table,
        log_range: LogRange,
        store: MergeStep = store_nothing,
        *,
        beside: Beside = write_nothing,
        is_in_lake: bool = False,
    ) -> MergeResult:
        """Land a batch that the driver holds.

        Args:
            events: `spool_reader.SPOOL_COLUMNS`, at least one.
            log_range: what the batch holds.
            store: writes the position of the log, in the transaction of the batch.
            beside: writes what belongs to the events to their folder.
            is_in_lake: readers of the lake see its events already.

        Raises:
            RangeMismatchError: it neither continues what the catalog holds nor repeats a part of
                it.
            StaleEpochError: a newer pipeline has started.
        """
        if self._is_landed(log_range):
            return MergeResult(is_repeat=True)
        rows, times = self._extract(events)
        if is_in_lake:
            with_batch = _each(self.writer.fence, store)
            return merge(self._engine, log_range, rows, self._clock, with_batch)
        self.writer.try_delete_failed()
        with self._folder(log_range) as name:
            folders = write_raw(with_times(events, times), self.writer.lake, name)
            beside(self.writer.lake, name)
            return self._commit(log_range, rows, name, folders, store)

    def land_on_executors(  # noqa: PLR0913 - by name
        self,
        parts: DataFrame,
        read: BatchReader,
        log_range: LogRange,
        *,
        note: Note,
        store: MergeStep,
        beside: Beside = write_nothing,
    ) -> MergeResult | None:
        """Land a batch that executors read and write to the lake; None where it is empty.

        Args:
            parts: of the batch, one row each.
            read: reads the records of parts, on an executor.
            log_range: what the batch may hold.
            note: takes the records that are no events, before `store` is called.
            store: as `land` has it.
            beside: as `land` has it.

        Raises:
            RangeMismatchError: as `land`.
            StaleEpochError: as `land`.
        """
        if self._is_landed(log_range):
            return MergeResult(is_repeat=True)
        self.writer.try_delete_failed()
        with self._folder(log_range) as name:
            in_stream_pool(parts.sparkSession)
            try:
                found = extract_on_executors(parts, read, self.writer.lake, name.text)
            finally:
                garbage_collection.free()
            note(found.others)
            if not found.facts.events:
                self.writer.give_up(name)
                self.writer.pass_over(store)
                return None
            folders = record_folders(found.files, self.writer.lake, name)
            beside(self.writer.lake, name)
            return self._commit(log_range, self._rows(found.facts), name, folders, store)

    def rehearse(self, events: pa.Table, lake: Lake) -> None:
        """Do all that `land` does, in a local lake of its own, and leave nothing of it.

        Raises:
            Exception: what `land` would have failed by.
        """
        [after_seq], [last_seq] = (events[name].to_pylist() for name in ("after_seq", "last_seq"))
        name = self.writer.name_folder(BATCH, after_seq + 1, last_seq)
        try:
            rows, times = self._extract(events)
            write_raw(with_times(events, times), lake, name)
        finally:
            shutil.rmtree(lake.folder, ignore_errors=True)
        log_range = LogRange(_CONTROL, 0, after_seq, last_seq)
        rehearse(self._engine, log_range, rows, self._clock)

    def _is_landed(self, log_range: LogRange) -> bool:
        with self._engine.connect() as connection:
            return is_landed(connection, log_range)

    def _extract(self, events: pa.Table) -> tuple[StagedRows, list[int | None]]:
        """Return the rows to stage, and the time of each event; nothing else of the facts stays."""
        with no_search():
            facts = extract_from_table(events)
            return self._rows(facts), times_of(facts)

    def _rows(self, facts: Facts) -> StagedRows:
        folds = folds_of(self._policy())
        return staged_rows(facts, folds, are_history=self._are_history)

    def _folder(self, log_range: LogRange) -> AbstractContextManager[FolderName]:
        return self.writer.folder(BATCH, log_range.after_seq + 1, log_range.last_seq)

    def _commit(
        self,
        log_range: LogRange,
        rows: StagedRows,
        name: FolderName,
        folders: list[Folder],
        store: MergeStep,
    ) -> MergeResult:
        """Merge a batch whose events are in a folder of the lake."""

        def into_manifest(connection: Connection) -> None:
            self.writer.commit(connection, folders)

        with_batch = _each(into_manifest, store)
        landed = merge(self._engine, log_range, rows, self._clock, with_batch)
        if landed.is_repeat:
            self.writer.give_up(name)
        return landed


def _each(*stores: MergeStep) -> MergeStep:
    """Return what calls each of these, in turn."""

    def store(connection: Connection) -> None:
        for one in stores:
            one(connection)

    return store
