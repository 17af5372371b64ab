"""Facts of a batch, or of the part of it that one task reads."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from slis.stream.facts.dataset_facets import DatasetDescription, DescribedFacts
from slis.stream.facts.jobs import (
    DeclaredEdge,
    DeclaringJob,
    DescribedJob,
    JobFacts,
    JobLineage,
    SqlText,
)
from slis.stream.facts.mentions import mentions_of
from slis.stream.facts.run_io import Checkpoint, RunIoFacts, RunIoRow
from slis.stream.facts.runs import RunFacts, RunTimes
from slis.stream.facts.spans import SeenTimes
from slis.stream.reading import ReadEvent, read_event
from slis.stream.reading.reported import ReportedRun

_READ = ("seq", "received_at", "origin", "kind", "body")
_ROWS_AT_ONCE = 100  # as values of Python; record batches bound their bytes


class EventRow(NamedTuple):
    """Row of `s_event`, for each event, repeats included: the merge counts them."""

    seq: int
    kind: str
    event_time: int | None
    event_key: int
    is_streaming: int
    is_history: int
    is_skewed: int
    problem: str | None
    detail: str | None


class Facts(msgspec.Struct):
    """Facts of a batch, or of a part of it."""

    events: list[EventRow] = []
    runs: list[tuple[ReportedRun, RunTimes]] = []
    run_io: list[RunIoRow] = []
    checkpoints: list[Checkpoint] = []
    described: list[DatasetDescription] = []
    described_jobs: list[DescribedJob] = []
    declared_edges: list[tuple[DeclaringJob, list[tuple[DeclaredEdge, SeenTimes]]]] = []
    job_lineages: list[tuple[JobLineage, SeenTimes]] = []
    sql_texts: list[SqlText] = []


def extract_facts(events: Iterable[ReadEvent]) -> Facts:
    """Return the facts of events, each fact once."""
    rows: list[EventRow] = []
    runs, run_io, described, jobs = RunFacts(), RunIoFacts(), DescribedFacts(), JobFacts()
    for event in events:
        rows.append(_event_row(event))
        time = event.event_time
        if time is None:
            continue
        mentions = list(mentions_of(event))
        runs.add(event, time)
        for facts in (run_io, described, jobs):
            facts.add(event, time, mentions)
    return Facts(
        events=rows,
        runs=runs.list_runs(),
        run_io=run_io.list_io(),
        checkpoints=run_io.list_checkpoints(),
        described=described.list_described(),
        described_jobs=jobs.list_described(),
        declared_edges=jobs.list_declared_edges(),
        job_lineages=jobs.list_lineages(),
        sql_texts=jobs.list_sql_texts(),
    )


def extract_from_table(events: pa.Table | pa.RecordBatch) -> Facts:
    """Return the facts of events of the log, which are `spool_reader.SPOOL_COLUMNS`."""
    batches = events.to_batches() if isinstance(events, pa.Table) else [events]
    return extract_facts(read_event(*row) for batch in batches for row in _rows(batch))


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    given = batch.select(_READ)
    for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
        piece = given.slice(start, _ROWS_AT_ONCE)
        yield from zip(*(column.to_pylist() for column in piece.columns), strict=True)


def times_of(facts: Facts) -> list[int | None]:
    """Return the time of each event."""
    return [row.event_time for row in facts.events]


def join_facts(parts: Sequence[Facts]) -> Facts:
    """Return the facts of all parts of a batch."""
    names = Facts.__struct_fields__
    return Facts(**{name: [row for part in parts for row in getattr(part, name)] for name in names})


def _event_row(event: ReadEvent) -> EventRow:
    return EventRow(
        seq=event.seq,
        kind=event.kind,
        event_time=event.event_time,
        event_key=event.event_key,
        is_streaming=int(event.is_streaming),
        is_history=int(event.is_history),
        is_skewed=int(event.is_skewed),
        problem=event.problem,
        detail=event.detail,
    )
