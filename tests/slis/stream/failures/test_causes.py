"""Cause of a failure: the events, or disk, catalog and machine."""

import errno
import sqlite3

import psycopg
import pytest
from psycopg import errors
from sqlalchemy.exc import DataError, OperationalError

from slis.stream.failures.causes import is_of_machine, was_stopped


def _sqlite(code):
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


def _with_cause(cause):
    error = RuntimeError("the batch failed")
    error.__cause__ = cause
    return error


OF_MACHINE = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EDQUOT, "Disk quota exceeded"),
    OSError(errno.EIO, "Input/output error"),
    ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    OperationalError("SELECT 1", {}, _sqlite(sqlite3.SQLITE_FULL)),
    OperationalError("SELECT 1", {}, _sqlite(sqlite3.SQLITE_BUSY)),
    OperationalError("SELECT 1", {}, _sqlite(sqlite3.SQLITE_IOERR | 10 << 8)),
    OperationalError("SELECT 1", {}, psycopg.OperationalError("connection refused")),
    OperationalError("SELECT 1", {}, errors.AdminShutdown("terminating connection")),
    OperationalError("SELECT 1", {}, errors.DiskFull("could not extend file")),
    OperationalError("SELECT 1", {}, errors.DeadlockDetected("deadlock detected")),
    OperationalError("SELECT 1", {}, errors.UndefinedColumn("column x does not exist")),
    RuntimeError("org.apache.spark.SparkException: Python worker failed to connect back."),
    RuntimeError("java.io.IOException: No space left on device"),
    RuntimeError("java.net.SocketTimeoutException: Accept timed out"),
    RuntimeError("PythonException\nOSError: When creating key 'x': AWS Error SLOW_DOWN during Put"),
    RuntimeError("PythonException\nInvalidSettingError: LINEWARD_LAKE_ACCESS_KEY_FILE"),
    _with_cause(OSError(errno.ENOSPC, "No space left on device")),
    _with_cause(_with_cause(psycopg.OperationalError("server closed the connection"))),
]
OF_EVENTS = [
    ValueError("odd"),
    KeyError(),
    MemoryError(),
    RuntimeError("java.lang.OutOfMemoryError: Java heap space"),
    OperationalError("INSERT", {}, errors.ProgramLimitExceeded("index row size 4032 exceeds")),
    DataError("INSERT", {}, errors.NumericValueOutOfRange("bigint out of range")),
    DataError("INSERT", {}, errors.CharacterNotInRepertoire("invalid byte sequence")),
    DataError("INSERT", {}, _sqlite(sqlite3.SQLITE_TOOBIG)),
    OSError(errno.ENAMETOOLONG, "File name too long"),
    _with_cause(ValueError("odd")),
]


@pytest.mark.parametrize("error", OF_MACHINE, ids=repr)
def test_a_failure_that_passes_is_of_the_machine(error):
    """Wait, and set no event aside."""
    assert is_of_machine(error)


@pytest.mark.parametrize("error", OF_EVENTS, ids=repr)
def test_any_other_failure_is_of_the_events(error):
    """Halve the range of the events."""
    assert not is_of_machine(error)


def test_a_jvm_that_a_signal_ended_was_stopped_from_outside():
    """Blame the events for the JVM's own ends: no heap, or a crash, by their exit codes."""
    assert [code for code in (-9, -15, 143, 52, 3, 1, -6, -11, 134) if was_stopped(code)] == [
        *(-9, -15, 143)
    ]
