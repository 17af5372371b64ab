"""Finds the event logs of a folder, on any file system that Spark can reach, by Spark's own reader.

It knows one file an application, a folder of rolling files (Spark's default), compressed ones, and
those still being written.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lineage.clock import to_micros

_MICROS_A_MILLI = 1_000
_MOST_PROBLEM_CHARACTERS = 200


class LogFile(msgspec.Struct, frozen=True):
    """One file of an application's log."""

    path: str
    log: str  # the file itself, or the folder of a rolling log
    bytes: int
    modified_at: int  # microseconds
    is_compressed: bool
    is_complete: bool  # the application ended


class FolderError(Exception):
    """The folder of event logs cannot be read; the message names it."""


def find(spark: SparkSession, folder: str, *, since: datetime) -> Iterator[LogFile]:
    """The files of every log in a folder that was written to since then.

    Raises:
        FolderError: there is no such folder, or it may not be read.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - Spark's reader of its own logs has no Python
    root = jvm.org.apache.hadoop.fs.Path(folder)
    try:
        system = root.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001
        entries = list(system.listStatus(root))
    except Py4JJavaError as error:
        raise FolderError(f"{folder}: {_told(error)}") from error
    reader = jvm.org.apache.spark.deploy.history.EventLogFileReader
    for entry in entries:
        found = reader.apply(system, entry)
        # A file that is being renamed is found by the next look.
        if found.isDefined() and found.get().modificationTime() * 1000 >= to_micros(since):
            yield from _files(found.get())


def _files(reader: Any) -> Iterator[LogFile]:  # noqa: ANN401 - Spark's EventLogFileReader
    listed = reader.listEventLogFiles()
    for place in range(listed.size()):
        status = listed.apply(place)
        yield LogFile(
            path=status.getPath().toString(),
            log=reader.rootPath().toString(),
            bytes=status.getLen(),
            modified_at=status.getModificationTime() * _MICROS_A_MILLI,
            is_compressed=reader.compressionCodec().isDefined(),
            is_complete=reader.completed(),
        )


def unpack(spark: SparkSession, path: str, scratch: Path) -> tuple[Path, str | None]:
    """A plain copy of a compressed file: as much of it as can be read, and why no more can.

    Spark frames its blocks in ways of its own, so that only its own codecs read all of them.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    plain = scratch / hashlib.sha256(path.encode()).hexdigest()[:16]
    source = jvm.org.apache.hadoop.fs.Path(path)
    target = jvm.java.io.FileOutputStream(str(plain))
    problem = None
    try:
        system = source.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001
        stream = jvm.org.apache.spark.deploy.history.EventLogFileReader.openEventLog(source, system)
        try:
            jvm.org.apache.commons.io.IOUtils.copyLarge(stream, target)
        finally:
            stream.close()
    except Py4JJavaError as error:
        problem = f"the rest cannot be unpacked: {_told(error)}"
    finally:
        target.close()
    return plain, problem


def _told(error: Py4JJavaError) -> str:
    """What Java said, without where in Java."""
    said = str(error.java_exception.toString())
    return " ".join(said.split())[:_MOST_PROBLEM_CHARACTERS]
