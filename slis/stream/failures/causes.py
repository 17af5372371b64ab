"""Distinction of failures that an event causes from those of the disk, catalog or machine."""

import errno
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from subprocess import Popen, TimeoutExpired

import psycopg
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

# SQLite's primary result codes: the file or the machine, and a schema that does not fit.
_SQLITE = {
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_SCHEMA,
    sqlite3.SQLITE_NOTADB,
}
# Classes of PostgreSQL's SQLSTATE: connection, transaction, syntax or schema, resources, operator
# and system; an entry that is too long is 54, data are 22 and 23.
_POSTGRES = ("08", "25", "28", "3D", "40", "42", "53", "55", "57", "58", "F0", "XX001", "XX002")
# What an event may cause by itself: a name that is too long for a file, an invalid argument.
_OF_EVENTS = {errno.EINVAL, errno.ENAMETOOLONG, errno.EILSEQ, errno.E2BIG, errno.EOVERFLOW}
_OF_MACHINE = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|Too many open files"
    r"|Input/output error|Cannot allocate memory|unable to create (?:new )?native thread"
    r"|Python worker failed to connect back|Accept timed out|Permission denied"
    r"|SparkContext was shut down|SparkContext has been shutdown|Job \d+ cancelled"
    r"|the Kafka log (?:cannot|does not|gave|has)"
    r"|InterruptedException|stopped SparkContext|cancelled because|cancelled part of"
    # Of an executor that writes to the lake: the bucket, or what is missing on its machine.
    r"|AWS Error|InvalidSettingError|ModuleNotFoundError"
)
_STOPPED_BY_SIGNAL = {
    -signal.SIGKILL,
    -signal.SIGTERM,
    -signal.SIGINT,
    -signal.SIGHUP,
    130,
    137,
    143,
}
_EXIT_SECONDS = 10
_PY4J = "An error occurred while calling "


def is_of_machine(error: BaseException) -> bool:
    """Return whether the machine caused the failure, and not the events of the batch."""
    return any(_is_of_machine(one) for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, and those that it came from; SQLAlchemy keeps the driver's in `orig`."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        origin = getattr(error, "orig", None)
        if isinstance(origin, BaseException):
            yield origin
        error = error.__cause__ or error.__context__


def _is_of_machine(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _SQLITE
    if isinstance(error, psycopg.Error):
        # A connection that broke has no state.
        state = error.sqlstate
        is_broken = isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
        return is_broken if state is None else state.startswith(_POSTGRES)
    if isinstance(error, OSError):
        return error.errno not in _OF_EVENTS
    return _OF_MACHINE.search(str(error)) is not None


def jvm_exit(spark: SparkSession, error: BaseException) -> int | None:
    """Return the exit code of Spark's JVM; None while it runs, or where it started this process."""
    is_cut_off = (Py4JNetworkError, ConnectionError, EOFError)
    if any(isinstance(one, is_cut_off) for one in _chain(error)) and (jvm := _jvm(spark)):
        # The connection ends before the process does.
        with suppress(TimeoutExpired):
            jvm.wait(_EXIT_SECONDS)
    return poll_jvm(spark)


def poll_jvm(spark: SparkSession) -> int | None:
    """Return the exit code of Spark's JVM; None while it runs, or where it started this process."""
    jvm = _jvm(spark)
    return None if jvm is None else jvm.poll()


def _jvm(spark: SparkSession) -> Popen[bytes] | None:
    return spark.sparkContext._gateway.proc  # type: ignore[no-any-return, union-attr]  # noqa: SLF001


def describe_jvm_exit(code: int) -> str:
    """Return the message of a pipeline that ends because Spark's JVM has ended."""
    return f"Spark's JVM ended with exit code {code}"


def was_stopped(code: int) -> bool:
    """Return whether a signal ended the JVM: of an operator, or of a kernel without memory."""
    return code in _STOPPED_BY_SIGNAL


def reason_line(error: BaseException) -> str:
    """Return the line that says what failed: Spark's stack traces are around it."""
    lines = [line.strip(": \t") for line in str(error).strip().splitlines()]
    lines = [line for line in lines if line and not line.startswith(_PY4J)]
    of_machine = next((line for line in lines if _OF_MACHINE.search(line)), None)
    message = of_machine or next(iter(lines), "")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
