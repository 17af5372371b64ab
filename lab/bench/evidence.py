"""Benchmark of reading an event log: its time and memory, beside its budget."""

import json
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import msgspec

from lab.bench.footprint import CpuMeter, memory_bytes
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from slis.evidence import lines
from slis.evidence.scan import scan_logs
from slis.spark.session import spark_session

BUDGET_SECONDS = 180.0
BUDGET_BYTES = 3 * 1024**3
_SETTLE = timedelta(minutes=5)
_APPLICATION = "app-20261121000000-0001"
_EXECUTION_MILLIS = 1_000
# As of real logs: nine tenths of the bytes are of tasks and stages.
_TASKS_AN_EXECUTION = 200
_TASK_FILLER = "x" * 2_000
_STAGE_FILLER = "x" * 3_000
_PLAN = """== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (4)
+- WriteFiles (3)
   +- * ColumnarToRow (2)
      +- Scan parquet  (1)


(1) Scan parquet
Output [{width}]: [{columns}]
Batched: true
Location: InMemoryFileIndex [s3a://lake/raw/table_{number}, s3a://lake/raw/other_{number}]
ReadSchema: struct<{columns}>

(2) ColumnarToRow [codegen id : 1]
Input [{width}]: [{columns}]

(3) WriteFiles
Input [{width}]: [{columns}]

(4) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: s3a://lake/core/table_{number}, false, Parquet, [path=s3a://lake/core], Overwrite, [id]
"""
_ACCUMULABLES = [
    {"ID": number, "Name": f"metric {number}", "Value": "1", "Internal": True}
    for number in range(30)
] + [
    {"ID": 31, "Name": "internal.metrics.output.recordsWritten", "Value": 1_000},
    {"ID": 32, "Name": "internal.metrics.output.bytesWritten", "Value": 90_000},
]
_COLUMNS = ", ".join(f"column_{number}#{number}" for number in range(40))


class EvidenceFigures(msgspec.Struct, frozen=True):
    """Measured figures of one log, read by a session that has read nothing before."""

    bytes: int
    executions: int
    seconds: float
    budget_seconds: float
    cpu_seconds: float
    bytes_a_second: float
    peak_bytes: int
    budget_peak_bytes: int
    second_look_seconds: float  # when nothing has changed


def run(mebibytes: int = 1_024) -> EvidenceFigures:
    """Write a log of that size, and read it into a catalog of its own."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        logs.mkdir()
        size = write_log(logs / _APPLICATION, mebibytes * 1024**2)
        engine = open_catalog(catalog_url(Path(folder)))
        migrate(engine)
        spark = spark_session(warehouse=Path(folder) / "warehouse")
        try:
            folders = [logs.as_uri()]
            look = partial(
                scan_logs, spark, engine, folders, settle=_SETTLE, scratch=Path(folder) / "x"
            )
            used, started, now = CpuMeter(), time.monotonic(), datetime.now(UTC)
            found = look(now)
            seconds = time.monotonic() - started
            peak, cpu = memory_bytes(), used.seconds()
            again = time.monotonic()
            look(now)
            second = time.monotonic() - again
        finally:
            spark.stop()
            engine.dispose()
    return EvidenceFigures(
        bytes=size,
        executions=found.executions,
        seconds=seconds,
        budget_seconds=BUDGET_SECONDS,
        cpu_seconds=cpu,
        bytes_a_second=size / seconds,
        peak_bytes=peak,
        budget_peak_bytes=BUDGET_BYTES,
        second_look_seconds=second,
    )


def write_log(path: Path, least_bytes: int) -> int:
    """Write an application's log of at least that size, as Spark does; return its bytes."""
    size = number = 0
    with path.open("w", encoding="utf-8") as log:
        for event in _opening():
            size += log.write(json.dumps(event, separators=(",", ":")) + "\n")
        while size < least_bytes:
            for event in _execution(number):
                size += log.write(json.dumps(event, separators=(",", ":")) + "\n")
            number += 1
    return size


def _opening() -> Iterator[dict[str, object]]:
    yield {"Event": lines.LOG_START, "Spark Version": "4.3.0"}
    conf = {"spark.extraListeners": "", "spark.sql.maxMetadataStringLength": "100000"}
    yield {"Event": lines.ENVIRONMENT, "Spark Properties": conf}
    started = {"App Name": "bench", "App ID": _APPLICATION, "Timestamp": _at(0)}
    yield {"Event": lines.APPLICATION_START, **started}


def _at(number: int) -> int:
    """Return milliseconds since 1970; the executions ended an hour ago at least."""
    epoch = datetime.now(UTC) - timedelta(days=1)
    return int(epoch.timestamp() * 1e3) + number * _EXECUTION_MILLIS


def _execution(number: int) -> Iterator[dict[str, object]]:
    plan = _PLAN.format(number=number % 1_000, columns=_COLUMNS, width=40)
    ids = {"executionId": number, "rootExecutionId": number}
    plan_fields = {"description": "save", "physicalPlanDescription": plan}
    yield {"Event": lines.EXECUTION_START, **ids, **plan_fields, "time": _at(number)}
    properties = {"spark.sql.execution.id": str(number)}
    job = {"Job ID": number, "Stage Infos": [_TASK_FILLER] * 4, "Properties": properties}
    yield {"Event": lines.JOB_START, **job}
    info = {"Stage ID": number, "Stage Attempt ID": 0, "Details": _STAGE_FILLER}
    yield {"Event": lines.STAGE_SUBMITTED, "Stage Info": info, "Properties": properties}
    for task in range(_TASKS_AN_EXECUTION):
        yield {"Event": "SparkListenerTaskEnd", "Stage ID": task, "Task Metrics": _TASK_FILLER}
    wrote = {"Completion Time": _at(number), "Accumulables": _ACCUMULABLES}
    yield {"Event": lines.STAGE_COMPLETED, "Stage Info": {**info, **wrote}}
    ended = {"executionId": number, "time": _at(number) + 500, "errorMessage": ""}
    yield {"Event": lines.EXECUTION_END, **ended}
