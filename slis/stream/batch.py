"""One batch: from the rows of the spool to the lake and the catalog."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.util import inheritable_thread_target
from sqlalchemy import Connection

from lineage.clock import Clock
from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from lineage.policy import DEFAULT, NO_FOLDS, Folding, Policy, folding
from slis.computed import computed_once
from slis.lake.batches import with_times, write_batch, write_raw
from slis.lake.names import BATCH, Name
from slis.lake.writer import LakeWriter
from slis.stream import declared, facts, job_facts, sql_texts
from slis.stream.arrow import rows
from slis.stream.checkpoints import checkpoints
from slis.stream.cleared import without_secrets
from slis.stream.merge import (
    Landed,
    Rows,
    SpoolRange,
    Store,
    is_landed,
    merge,
    rehearse,
    store_nothing,
)
from slis.stream.parse import parse
from slis.stream.run_details import with_details
from slis.stream.unfold import Unfolded

_STAGED_OF_EVENTS = (
    *("seq", "kind", "event_time", "event_key", "is_streaming", "is_history", "is_skewed"),
    *("problem", "detail"),
)
_JOBS_AT_ONCE = 3
_CONTROL = "control"


class Batches:
    """Lands batches, exactly once each.

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
        self._engine = writer.engine
        self._policy = policy
        self._clock = clock
        self._are_history = are_history
        # Most of a small batch is Spark's planning, in one thread a job.
        self._threads = ThreadPoolExecutor(_JOBS_AT_ONCE, thread_name_prefix="facts")

    def close(self) -> None:
        """Free the threads; no batch can be landed any more."""
        self._threads.shutdown()

    def land(  # noqa: PLR0913 - the last two by name
        self,
        spooled: DataFrame,
        query_id: str,
        batch_id: int,
        store: Store = store_nothing,
        *,
        is_in_lake: bool = False,
        held: pa.Table | None = None,
    ) -> Landed | None:
        """Land a batch of `source.SPOOL_EVENT`; None where it holds no row.

        Args:
            spooled: the batch.
            query_id: by which a repeat is known, with ...
            batch_id: ... its number.
            store: writes the position of the log, in the transaction of the batch.
            is_in_lake: readers of the lake see its events already.
            held: the same events as `source.SPOOL_COLUMNS`, where the driver has them: it writes
                them to a local lake without a job of Spark.

        Raises:
            RangeMismatchError: it neither continues what the catalog holds nor repeats a part of
                it.
            StaleEpochError: a newer pipeline has started.
        """
        with computed_once(parse(spooled)) as parsed:
            events = facts.events(parsed).toArrow()
            if not events.num_rows:
                return None
            spool_range = _range(events, query_id, batch_id)
            with self._engine.connect() as connection:
                if is_landed(connection, spool_range):
                    return Landed(is_repeat=True)
            if is_in_lake:
                staged, _ = self._stage(parsed, events, list)
                given = spool_range, staged, self._clock
                return merge(self._engine, *given, _each(self.writer.fence, store))
            self.writer.try_delete_failed()
            with self._folder(spool_range) as name:
                into_lake = partial(write_batch, parsed, self.writer.lake, name)
                if held is not None and self.writer.lake.is_local:
                    into_lake = partial(self._write_held, held, events, name)
                staged, folders = self._stage(parsed, events, into_lake)
                return self.commit(spool_range, staged, name, folders, store)

    def _write_held(self, held: pa.Table, events: pa.Table, name: Name) -> list[Folder]:
        return write_raw(with_times(held, events), self.writer.lake, name)

    def _folder(self, spool_range: SpoolRange) -> AbstractContextManager[Name]:
        return self.writer.folder(BATCH, spool_range.after_seq + 1, spool_range.last_seq)

    def commit(
        self,
        spool_range: SpoolRange,
        staged: Rows,
        name: Name,
        folders: list[Folder],
        store: Store = store_nothing,
    ) -> Landed:
        """Merge a batch whose events are in a folder of the lake."""

        def into_manifest(connection: Connection) -> None:
            self.writer.commit(connection, folders)

        with_batch = _each(into_manifest, store)
        landed = merge(self._engine, spool_range, staged, self._clock, with_batch)
        if landed.is_repeat:
            self.writer.give_up(name)
        return landed

    def rehearse(self, spooled: DataFrame, lake: Lake) -> None:
        """Do all that `land` does, in a local lake of its own, and leave nothing of it.

        Raises:
            Exception: what `land` would have failed by.
        """
        parsed = parse(spooled)
        events = facts.events(parsed).toArrow()
        spool_range = _range(events, _CONTROL, 0)
        name = self.writer.name_folder(BATCH, spool_range.after_seq + 1, spool_range.last_seq)
        try:
            staged, _ = self._stage(parsed, events, partial(write_batch, parsed, lake, name))
        finally:
            shutil.rmtree(lake.folder, ignore_errors=True)
        rehearse(self._engine, spool_range, staged, self._clock)

    def _stage(
        self, parsed: DataFrame, events: pa.Table, into_lake: Callable[[], list[Folder]]
    ) -> tuple[Rows, list[Folder]]:
        """Return the rows of the batch, and what was written to the lake meanwhile."""
        if self._are_history:
            events = _as_history(events)
        # Jobs of another thread are of this one's scheduler pool.
        inherited = inheritable_thread_target(parsed.sparkSession)
        written = self._threads.submit(inherited(into_lake))
        frames = {
            name: self._threads.submit(inherited(frame.toArrow))
            for name, frame in _frames(parsed, events).items()
        }
        try:
            tables = {name: future.result() for name, future in frames.items()}
            staged = staged_rows(events, tables, folding(self._policy()))
            folders = written.result()
        finally:
            # The next try must not meet a job of this one.
            wait([written, *frames.values()])
        return staged, folders


def _each(*stores: Store) -> Store:
    """Return what calls each of these, in turn."""

    def store(connection: Connection) -> None:
        for one in stores:
            one(connection)

    return store


def _as_history(events: pa.Table) -> pa.Table:
    place = events.column_names.index("is_history")
    return events.set_column(place, "is_history", pa.array([True] * events.num_rows))


def _range(events: pa.Table, query_id: str, batch_id: int) -> SpoolRange:
    after_seq, last_seq = (events[name][0].as_py() for name in ("after_seq", "last_seq"))
    return SpoolRange(query_id, batch_id, after_seq, last_seq)


def _frames(parsed: DataFrame, events: pa.Table) -> dict[str, DataFrame]:
    """The facts to collect; those that few events hold only where the batch has such events."""
    named = facts.mentions(parsed)
    frames: dict[str, DataFrame] = {
        "described": facts.described(named),
        "s_run_io": facts.run_io(named),
        "s_run": facts.runs(parsed),
    }
    if pc.any(pc.equal(events["kind"], "job")).as_py():
        frames["declared_edges"] = declared.declared_edges(named)
    if pc.any(events["tells_lineage"]).as_py():
        frames["job_lineages"] = declared.job_lineages(parsed)
    if pc.any(events["has_sql"]).as_py():
        frames["sql_texts"] = sql_texts.sql_texts(parsed)
    if pc.any(events["is_bare_checkpoint"]).as_py():
        frames["s_checkpoint"] = checkpoints(parsed)
    if pc.any(events["describes_job"]).as_py():
        frames["described_jobs"] = job_facts.described_jobs(parsed)
    return frames


def staged_rows(events: pa.Table, tables: dict[str, pa.Table], folds: Folding = NO_FOLDS) -> Rows:
    """The facts of a batch, as rows of the staging tables.

    Args:
        events: `schemas.EVENTS`.
        tables: the other facts, by staging table; `schemas.DESCRIBED` as `described`,
        `schemas.DESCRIBED_JOBS`, `JOB_LINEAGES`, `DECLARED_EDGES` and `SQL_TEXTS` by these names.
        folds: of the policy, in force for the batch.
    """
    unfolded = Unfolded(tables["described"], folds)
    if "described_jobs" in tables:
        unfolded.describe_jobs(tables["described_jobs"])
    if "job_lineages" in tables:
        unfolded.told.note_jobs(tables["job_lineages"])
    if "declared_edges" in tables:
        unfolded.told.note_declared(tables["declared_edges"])
    direct = {"s_event": events.select(_STAGED_OF_EVENTS)}
    direct |= {name: table for name, table in tables.items() if name.startswith("s_")}
    direct["s_run"] = with_details(direct["s_run"])
    staged = {
        **{name: (table.column_names, rows(table)) for name, table in direct.items()},
        **unfolded.rows(),
        **(sql_texts.staged(tables["sql_texts"]) if "sql_texts" in tables else {}),
    }
    return without_secrets(staged)
