"""Spools as the collector writes them, and the rows that the pipeline makes of them."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import Engine, text

from collector.retention import SpoolRetention
from collector.settings import Limits
from collector.spool_file import open_spool
from lineage.input_log.spool_tables import EVENT_TABLE
from lineage.lake.storage import open_lake
from lineage.policy import DEFAULT, Policy
from lineage.process.clock import to_micros
from slis.lake.writer import LakeWriter
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import SPOOL_COLUMNS, BatchLimits
from slis.stream.merge.merge import LogRange, MergeResult
from slis.stream.reading import ReadEvent, read_event

Event = dict[str, Any]
CANONICAL = """
    SELECT d.name, c.name FROM dataset d JOIN dataset c ON c.dataset_key = d.canonical_key
    ORDER BY 1
"""
WRITES = """
    SELECT d.name, w.root_run_id FROM dataset_write w JOIN dataset d
    ON d.dataset_key = w.dataset_key ORDER BY 1, 2
"""


def kind_of(event: Event) -> str:
    """Identify bodies as the collector does."""
    if "run" in event:
        return "run"
    return "job" if "job" in event else "dataset"


def spool(
    path: Path,
    events: Iterable[Event | bytes],
    *,
    received_at: datetime,
    origin: str = "http",
    skip: int = 0,
) -> Path:
    """Append events to the spool, received at `received_at`, after `skip` unused numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(EVENT_TABLE)
        used = "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'event'"
        connection.execute(used, (skip,))
        for event in events:
            body = event if isinstance(event, bytes) else json.dumps(event).encode()
            kind = "run" if isinstance(event, bytes) else kind_of(event)
            # Salted, since a test may deliver one body again under another hash, as a
            # re-serialised one has.
            digest = hashlib.sha256(body + str(connection.total_changes).encode()).digest()
            connection.execute(
                "INSERT INTO event (body_hash, received_at, origin, kind, body) VALUES (?, "
                "?, ?, ?, ?)",
                (digest, to_micros(received_at), origin, kind, body),
            )
    return path


def prune_spool(path: Path, through: int, now: datetime) -> None:
    """Delete the events up to `through` with the collector's own code, as an hour later."""
    with closing(open_spool(path, 1 << 30)) as connection:
        retention = SpoolRetention(connection, Limits(), lambda: now + timedelta(hours=2))
        retention.allow_deletion(through)
        retention.prune()


def work_off(
    catalog: Engine,
    folder: Path,
    now: datetime,
    *,
    max_rows: int = 25_000,
    max_bytes: int = 128 << 20,
) -> None:
    """Run the stream until it has landed the whole spool of this data folder."""
    limits = BatchLimits(max_rows, max_bytes)
    place = SharedPaths(data_dir=folder)
    given = {"limits": limits, "clock": lambda: now}
    BatchLanding(catalog, place, **given).work_off()


def rows(catalog: Engine, sql: str) -> list[tuple[Any, ...]]:
    """Query the catalog, flags as booleans of either database."""
    with catalog.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


def symlink(name: str) -> dict[str, Any]:
    """Return facets of a dataset with this other name."""
    return {"symlinks": {"identifiers": [{"namespace": "n", "name": name, "type": "TABLE"}]}}


def columns(*names: str) -> dict[str, Any]:
    """Return facets of a dataset with a column derived from a column of each of these datasets."""
    fields = [{"namespace": "n", "name": name, "field": "f"} for name in names]
    return {"columnLineage": {"fields": {"id": {"inputFields": fields}}}}


def datasets(names: Iterable[str | tuple[str, dict[str, Any]]]) -> Iterator[Event]:
    """Return datasets of the namespace `n`, with facets where passed."""
    for given in names:
        name, facets = given if isinstance(given, tuple) else (given, {})
        yield {"namespace": "n", "name": name, "facets": facets}


def run_event(  # noqa: PLR0913 - by name, each with a default
    kind: str,
    at: datetime,
    *,
    run: str = "r1",
    job: str = "app",
    inputs: Iterable[Any] = (),
    outputs: Iterable[Any] = (),
    root: tuple[str, str] | None = None,
    processing: str = "BATCH",
    job_type: str = "JOB",
    facets: dict[str, Any] | None = None,
    rows_written: int | None = None,
    integration: str | None = None,
) -> Event:
    """Return a RunEvent of job `j.<job>`; `root`: (run id, name) of its parent.

    `integration`: SPARK for what has a parent, if not given; its job is named after the parent.
    """
    if root and integration is None and job_type != "APPLICATION" and not job.startswith(root[1]):
        job = f"{root[1]}.{job}"
    run_facets = dict(facets or {})
    if root:
        parent = {"run": {"runId": root[0]}, "job": {"namespace": "j", "name": root[1]}}
        run_facets["parent"] = {**parent, "root": parent}
    written = list(datasets(outputs))
    if rows_written is not None:
        for dataset in written:
            dataset["outputFacets"] = {"outputStatistics": {"rowCount": rows_written, "size": 1}}
    job_facet = {"processingType": processing, "jobType": job_type}
    job_facet["integration"] = integration or ("SPARK" if root else "TEST")
    return {
        "eventType": kind,
        "eventTime": at.isoformat(),
        "producer": "https://example.test/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run, "facets": run_facets},
        "job": {"namespace": "j", "name": job, "facets": {"jobType": job_facet}},
        "inputs": list(datasets(inputs)),
        "outputs": written,
    }


def later(at: datetime, seconds: float) -> datetime:
    """Return the time so many seconds later."""
    return at + timedelta(seconds=seconds)


def table(
    events: Iterable[Event | bytes],
    received_at: datetime,
    *,
    after_seq: int = 0,
    origin: str = "http",
) -> pa.Table:
    """Return these events as the log returns a batch of them."""
    given = batch_rows(events, received_at, after_seq=after_seq, origin=origin)
    return pa.table([list(column) for column in zip(*given, strict=True)], schema=SPOOL_COLUMNS)


def read(event: Event | bytes, received_at: datetime, *, origin: str = "http") -> ReadEvent:
    """Return one event as the pipeline reads it."""
    [row] = batch_rows([event], received_at, after_seq=0, origin=origin)
    return read_event(*row[:5])


def batch_rows(
    events: Iterable[Event | bytes], received_at: datetime, *, after_seq: int, origin: str
) -> list[tuple[Any, ...]]:
    """Return the rows of that table."""
    bodies = [e if isinstance(e, bytes) else json.dumps(e).encode() for e in events]
    kinds = ["run" if isinstance(e, bytes) else kind_of(e) for e in events]
    bounds = after_seq, after_seq + len(bodies)
    received = to_micros(received_at)
    return [
        (after_seq + number, received, origin, kind, body, *bounds)
        for number, (kind, body) in enumerate(zip(kinds, bodies, strict=True), start=1)
    ]


class Lander:
    """Lander of batches without a streaming query, which takes seconds to start.

    Attributes:
        policy: in force from the next batch on.
    """

    def __init__(self, catalog: Engine, folder: Path, now: datetime) -> None:
        self.policy: Policy = DEFAULT
        self.writer = LakeWriter(catalog, open_lake(folder), lambda: now)
        self.batches = Batches(self.writer, lambda: now, lambda: self.policy)
        self.now = now
        self.seq = 0
        self.batch_id = 0

    def land(self, *events: Event | bytes, origin: str = "http") -> MergeResult:
        """Land one batch of these events."""
        before, last = self.seq, self.seq + len(events)
        batch = table(events, self.now, after_seq=before, origin=origin)
        landed = self.batches.land(batch, LogRange("checkpoint-1", self.batch_id, before, last))
        self.seq = last
        self.batch_id += 1
        return landed
