"""Made-up events as the Spark listener sends them: START, RUNNING and COMPLETE of 3.4 kB each.

The pipeline warms up with them, and lands one to see whether a fault is its own. The
benchmarks send them too. Sizes and facets follow `io.openlineage:openlineage-spark` 1.53.0 on
Spark 4.3; only the names are made up.
"""

import hashlib
import random
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from lineage.input_log.spool_tables import EVENT_TABLE
from lineage.process.clock import to_micros

JOBS = 500
DATASETS = 1_000
NEW_DATASET_SHARE = 0.02
_ROWS_A_TRANSACTION = 10_000
_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
_FACETS = "https://openlineage.io/spec/facets"


def _facet(kind: str, release: str, /, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - a facet holds any JSON
    return {
        "_producer": _PRODUCER,
        "_schemaURL": f"{_FACETS}/{release}/{kind}.json#/$defs/{kind}",
        **fields,
    }


def _schema(dataset: int) -> dict[str, Any]:
    names = ("id", "amount", f"attribute_{dataset % 7}")
    fields = [
        {"name": name, "type": kind}
        for name, kind in zip(names, ("long", "double", "string"), strict=True)
    ]
    return _facet("SchemaDatasetFacet", "1-2-0", fields=fields)


def _name(dataset: int) -> str:
    return f"/lake/domain_{dataset % 20}/table_{dataset}"


def _input(dataset: int) -> dict[str, Any]:
    return {
        "namespace": "file",
        "name": _name(dataset),
        "facets": {
            "dataSource": _facet("DatasourceDatasetFacet", "1-0-1", name="file", uri="file"),
            "schema": _schema(dataset),
        },
        "inputFacets": {},
    }


def _output(dataset: int, upstream: int, rows: int | None) -> dict[str, Any]:
    source = {"namespace": "file", "name": _name(upstream)}
    lineage = {
        column: {"inputFields": [{**source, "field": column}]} for column in ("id", "amount")
    }
    statistics = (
        {}
        if rows is None
        else {
            "outputStatistics": _facet(
                "OutputStatisticsOutputDatasetFacet", "1-0-2", rowCount=rows, size=rows * 40
            )
        }
    )
    return {
        "namespace": "file",
        "name": _name(dataset),
        "facets": {
            "dataSource": _facet("DatasourceDatasetFacet", "1-0-1", name="file", uri="file"),
            "columnLineage": _facet("ColumnLineageDatasetFacet", "1-2-0", fields=lineage),
            "lifecycleStateChange": _facet(
                "LifecycleStateChangeDatasetFacet", "1-0-1", lifecycleStateChange="OVERWRITE"
            ),
            "schema": _schema(dataset),
        },
        "outputFacets": statistics,
    }


def _run_facets(root: dict[str, Any], application: str) -> dict[str, Any]:
    return {
        "parent": _facet("ParentRunFacet", "1-2-0", **root, root=root),
        "spark_properties": _facet(
            "RunFacet", "2-0-2", properties={"spark.master": "yarn", "spark.app.name": application}
        ),
        "processing_engine": _facet(
            "ProcessingEngineRunFacet",
            "1-1-1",
            version="4.3.0",
            name="spark",
            openlineageAdapterVersion="1.53.0",
        ),
    }


def _run_id(random_: random.Random, at: datetime) -> str:
    """Return a UUID of version 7, as OpenLineage's client for Java has made them since 1.15.0."""
    milliseconds = int(at.timestamp() * 1_000)
    drawn = random_.getrandbits(74)
    low = 0b10 << 62 | drawn >> 12
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | (drawn & 0xFFF) << 64 | low))


def _run(
    random_: random.Random, number: int, at: datetime
) -> Iterator[tuple[datetime, dict[str, Any]]]:
    job = random_.randrange(JOBS)
    is_new = random_.random() < NEW_DATASET_SHARE
    output = DATASETS + number if is_new else JOBS + job
    upstream = job
    application = f"application_{job}"
    root = {
        "run": {"runId": _run_id(random_, at)},
        "job": {"namespace": "bench", "name": application},
    }
    run = {
        "runId": _run_id(random_, at),
        "facets": _run_facets(root, application),
    }
    job_type = _facet(
        "JobTypeJobFacet", "2-0-4", processingType="BATCH", integration="SPARK", jobType="SQL_JOB"
    )
    name = f"{application}.execute_insert_into_hadoop_fs_relation_command.table_{output}"
    for offset, event_type in enumerate(("START", "RUNNING", "COMPLETE")):
        event_time = at + timedelta(milliseconds=offset)
        yield (
            event_time,
            {
                "eventTime": event_time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "producer": _PRODUCER,
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "eventType": event_type,
                "run": run,
                "job": {"namespace": "bench", "name": name, "facets": {"jobType": job_type}},
                "inputs": [_input(upstream)],
                "outputs": [
                    _output(output, upstream, None if event_type == "START" else 1_000 + number % 7)
                ],
            },
        )


def make_events(
    count: int, *, seed: int, start: datetime, apart: timedelta
) -> Iterator[tuple[datetime, bytes]]:
    """Return `count` events as (event_time, body), the same for the same seed."""
    random_ = random.Random(seed)  # noqa: S311 - made-up events, no secret
    made = 0
    number = 0
    while made < count:
        for event_time, event in _run(
            random_, seed * 10_000_000 + number, start + number * 3 * apart
        ):
            if made == count:
                return
            yield event_time, msgspec.json.encode(event)
            made += 1
        number += 1


def fill_spool(path: Path, rows: Iterator[tuple[datetime, bytes]], *, origin: str = "http") -> None:
    """Write events into a spool file as the collector would have, without its fsyncs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as spool:
        spool.execute("PRAGMA journal_mode=WAL")
        spool.execute("PRAGMA synchronous=OFF")
        spool.execute(EVENT_TABLE)
        chunk: list[tuple[bytes, int, str, bytes]] = []
        for event_time, body in rows:
            digest = hashlib.sha256(body).digest()
            chunk.append((digest, to_micros(event_time), origin, body))
            if len(chunk) == _ROWS_A_TRANSACTION:
                _insert(spool, chunk)
                chunk = []
        _insert(spool, chunk)


def _insert(spool: sqlite3.Connection, chunk: list[tuple[bytes, int, str, bytes]]) -> None:
    spool.execute("BEGIN")
    spool.executemany(
        "INSERT OR IGNORE INTO event (body_hash, received_at, origin, kind, body) VALUES (?, "
        "?, ?, 'run', ?)",
        chunk,
    )
    spool.execute("COMMIT")
