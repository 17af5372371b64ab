"""Small event logs, line by line as Spark writes them."""

import json
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from slis.evidence import lines

_HOUR_MILLIS = 3_600_000
_PLAN = """== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (1)


(1) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: s3a://lake/{output}, false, Parquet, [path=s3a://lake], Overwrite, [id]
"""


def lines_of(
    application: str, *outputs: str, ago_millis: int = _HOUR_MILLIS, attempt: int | None = None
) -> str:
    """Write the log of an application that wrote these so long ago, one execution each."""
    began = time.time_ns() // 1_000_000 - ago_millis
    started = {"App Name": application, "App ID": application, "Timestamp": began}
    if attempt is not None:
        started["App Attempt ID"] = str(attempt)
    events = [{"Event": lines.APPLICATION_START, **started}]
    for number, output in enumerate(outputs):
        ids = {"executionId": number, "rootExecutionId": number}
        plan = {"description": "save", "physicalPlanDescription": _PLAN.format(output=output)}
        at = began + number * 1_000
        events += [
            {"Event": lines.EXECUTION_START, **ids, **plan, "time": at},
            {"Event": lines.EXECUTION_END, **ids, "time": at + 500, "errorMessage": ""},
        ]
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def log(path: Path, *outputs: str, ago_millis: int = _HOUR_MILLIS) -> Path:
    """Write a log of one file, named after its application."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(lines_of(path.stem, *outputs, ago_millis=ago_millis))
    return path


def rolling_log(folder: Path, application: str, *outputs: str) -> Path:
    """Write a log that rolls, of one file so far."""
    path = folder / f"eventlog_v2_{application}"
    path.mkdir(parents=True, exist_ok=True)
    (path / f"events_1_{application}").write_text(lines_of(application, *outputs))
    (path / f"appstatus_{application}").touch()
    return path


def pack(spark: SparkSession, path: Path, codec: str = "zstd") -> Path:
    """Write a packed copy beside it, as Spark packs it: its codecs have no Python."""
    jvm: Any = spark._jvm  # noqa: SLF001
    packed = path.with_name(f"{path.name}.{codec}")
    codecs = jvm.org.apache.spark.io.CompressionCodec
    stream = codecs.createCodec(spark._jsc.sc().conf(), codec).compressedOutputStream(  # noqa: SLF001
        jvm.java.io.FileOutputStream(str(packed))
    )
    jvm.org.apache.commons.io.IOUtils.copyLarge(jvm.java.io.FileInputStream(str(path)), stream)
    stream.close()
    return packed
