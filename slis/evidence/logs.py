"""Event logs of a folder, on any file system that Spark can reach, by Spark's own reader.

A log is one file an application or a folder of rolling files (Spark's default). It may be
compressed, and may still be written.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lineage.process.clock import to_micros

UNREAD = -1  # bytes of what could not be listed or read: no file has so many, so it is tried again
# What Java throws; some of it, as IllegalArgumentException, PySpark makes into errors of its own.
FROM_JAVA = (Py4JJavaError, PySparkException)
_MICROS_A_MILLI = 1_000
_MOST_PROBLEM_CHARACTERS = 200


class LogFile(msgspec.Struct, frozen=True):
    """File of an application's log; a whole log where that could not be listed."""

    path: str
    log: str  # the file itself, or the folder of a rolling log
    bytes: int
    modified_at: int  # microseconds
    is_compressed: bool
    is_complete: bool  # the application ended
    problem: str | None = None  # why it cannot be read


class Unpacked(msgspec.Struct, frozen=True):
    """Plain copy of a compressed file."""

    path: Path
    bytes: int
    is_cut: bool  # there is more than was asked for
    problem: str | None  # why no more of it can be unpacked


class FolderError(Exception):
    """Error: the folder of event logs cannot be read; the message names it."""


class UnreadableError(Exception):
    """Error: a file cannot be opened; the message says why."""


def find_logs(spark: SparkSession, folder: str, *, since: datetime) -> Iterator[LogFile]:
    """Return the files of every log in a folder that was written to since then.

    Raises:
        FolderError: there is no such folder, or it may not be read.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - Spark's reader of its own logs has no Python
    root = jvm.org.apache.hadoop.fs.Path(folder)
    try:
        system = root.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001
        entries = list(system.listStatus(root))
    except FROM_JAVA as error:
        raise FolderError(f"{folder}: {_message(error)}") from error
    reader = jvm.org.apache.spark.deploy.history.EventLogFileReader
    for entry in entries:
        yield from _log(reader, system, entry, to_micros(since))


def _log(reader: Any, system: Any, entry: Any, since: int) -> list[LogFile]:  # noqa: ANN401
    """Return files of what an entry of the folder is; none of what is no log, or is older."""
    try:
        found = reader.apply(system, entry)
        # A file that is being renamed is found by the next look.
        if not found.isDefined() or found.get().modificationTime() * _MICROS_A_MILLI < since:
            return []
        return list(_files(found.get()))
    except FROM_JAVA as error:
        modified_at = entry.getModificationTime() * _MICROS_A_MILLI
        if modified_at < since:
            return []
        path = entry.getPath().toString()
        problem = f"it cannot be listed: {_message(error)}"
        return [LogFile(path, path, UNREAD, modified_at, False, False, problem)]


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


def try_to_open(spark: SparkSession, path: str) -> None:
    """Open a plain file, to see that it is still there and may be read.

    Raises:
        UnreadableError: it is not, or may not.
    """
    source, system = _place(spark, path)
    try:
        system.open(source).close()
    except FROM_JAVA as error:
        raise UnreadableError(f"it cannot be opened: {_message(error)}") from error


def unpack(spark: SparkSession, path: str, scratch: Path, most: int) -> Unpacked:
    """Copy the first `most` bytes of a compressed file, or all that can be read, uncompressed.

    Spark frames its blocks in ways of its own, so that only its own codecs read all of them.

    Raises:
        UnreadableError: the file is not there any more, or may not be read.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    plain = scratch / hashlib.sha256(path.encode()).hexdigest()[:16]
    source, system = _place(spark, path)
    try:
        stream = jvm.org.apache.spark.deploy.history.EventLogFileReader.openEventLog(source, system)
    except FROM_JAVA as error:
        raise UnreadableError(f"it cannot be opened: {_message(error)}") from error
    target = jvm.java.io.FileOutputStream(str(plain))
    problem, is_cut = None, False
    try:
        jvm.org.apache.commons.io.IOUtils.copyLarge(stream, target, 0, most)
        is_cut = stream.read() >= 0
    except FROM_JAVA as error:
        problem = f"the rest cannot be unpacked: {_message(error)}"
    finally:
        target.close()
        stream.close()
    return Unpacked(plain, plain.stat().st_size, is_cut, problem)


def _place(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return Hadoop's path and file system of it."""
    source = spark._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]  # noqa: SLF001
    return source, source.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001


def _message(error: Py4JJavaError | PySparkException) -> str:
    """Return Java's message, without its place in Java."""
    message = str(error.java_exception.toString() if isinstance(error, Py4JJavaError) else error)
    return " ".join(message.split())[:_MOST_PROBLEM_CHARACTERS]
