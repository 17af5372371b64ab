"""Pass over event logs: a broken log stops no other, and the amount read is bounded."""

import os

import pytest
from pyspark.errors import PySparkException

from lineage.catalog.meta_keys import EVIDENCE_LISTED_AT, EVIDENCE_READ_AT
from slis.evidence import changed_logs, frames, scan
from tests.slis.evidence.made_logs import lines_of, log, pack, rolling_log
from tests.slis.stream.spools import rows

_JOINED_TO = "SELECT value FROM meta WHERE name = 'evidence_joined_to'"


def test_a_log_that_cannot_be_listed_stops_no_other_and_is_tried_again(logged):
    """Continue past a foreign file without a number, on which Spark's reader fails."""
    log(logged.logs / "app-1", "orders")
    odd = rolling_log(logged.logs, "app-2", "rates") / "events_copy_app-2"
    odd.touch()

    first = logged.scan()

    assert logged.written() == ["orders"]
    assert (first.files, len(first.problems)) == (1, 1)
    assert logged.unread() == ["eventlog_v2_app-2"]
    assert (logged.last(EVIDENCE_LISTED_AT), logged.last(EVIDENCE_READ_AT)) == (1, None)

    odd.unlink()
    second = logged.scan()

    assert logged.written() == ["orders", "rates"]
    assert (second.files, second.problems, logged.unread()) == (1, {}, [])
    assert (logged.last(EVIDENCE_LISTED_AT), logged.last(EVIDENCE_READ_AT)) == (2, 2)


def test_attempts_of_one_application_have_their_own_executions(logged):
    """Read the logs of two attempts, which number their executions alike."""
    for attempt, output in ((1, "orders"), (2, "rates")):
        text = lines_of("app-1", output, attempt=attempt)
        (logged.logs / f"app-1_{attempt}").write_text(text)

    logged.scan()

    assert logged.written() == ["orders", "rates"]
    query = """
        SELECT e.application_id, e.execution_id, a.attempt_of FROM execution e
        JOIN application a ON a.application_id = e.application_id ORDER BY 1
    """
    assert rows(logged.catalog, query) == [("app-1", 0, None), ("app-1/2", 0, "app-1")]


@pytest.mark.parametrize(
    "when", ["before it is opened", "before it is unpacked", "after it was opened"]
)
def test_a_file_that_vanishes_during_a_read_is_noted_and_the_others_are_read(
    logged, monkeypatch, when
):
    """Read on after a rename at the application's end, or a delete by the history server."""
    gone = log(logged.logs / "app-2", "rates")
    if when == "before it is unpacked":
        plain, gone = gone, pack(logged.spark, gone)
        plain.unlink()
    for number, name in ((1, "orders"), (3, "stock")):
        log(logged.logs / f"app-{number}", name)

    def look(*given: object):
        found = real_look(*given)
        gone.unlink(missing_ok=True)
        return found

    def take(*given: object):
        found = real_take(*given)
        gone.unlink(missing_ok=True)
        return found

    real_look, real_take = scan._look, scan.select_files  # noqa: SLF001 - the moments in between
    if when.startswith("before"):
        monkeypatch.setattr(scan, "_look", look)
    else:
        monkeypatch.setattr(scan, "select_files", take)
    first = logged.scan()

    assert logged.written() == ["orders", "stock"]
    assert (first.files, logged.unread()) == (2, [gone.name])
    assert (logged.last(EVIDENCE_LISTED_AT), logged.last(EVIDENCE_READ_AT)) == (1, None)

    second = logged.scan()

    assert (second.files, second.problems, logged.unread()) == (0, {}, [])
    assert logged.last(EVIDENCE_READ_AT) == 2


def test_an_error_of_spark_is_not_blamed_on_a_file(logged, monkeypatch):
    """Fail the pass: no file is to blame."""
    log(logged.logs / "app-1", "orders")

    def cancelled(*_given: object) -> None:
        raise PySparkException(errorClass="CONTEXT_UNAVAILABLE_FOR_REMOTE_CLIENT")

    monkeypatch.setattr(frames, "_frames", cancelled)

    with pytest.raises(PySparkException):
        logged.scan()
    assert logged.unread() == []


@pytest.mark.parametrize("folder", ["file:/there/is/none", "nosuchscheme://bucket/logs"])
def test_a_folder_that_cannot_be_listed_stops_no_other_and_is_reported(logged, folder):
    """Read the other folders after one's key expired, without concluding that a job is missing."""
    log(logged.logs / "app-1", "orders")
    logged.scan()
    log(logged.logs / "app-2", "rates")

    found = logged.scan(folder)

    assert logged.written() == ["orders", "rates"]
    assert [problem.startswith(folder) for problem in found.unlisted] == [True]
    assert (logged.last(EVIDENCE_LISTED_AT), logged.last(EVIDENCE_READ_AT)) == (1, 1)
    unlisted = "SELECT value FROM meta WHERE name = 'evidence_unlisted_folders'"
    assert rows(logged.catalog, unlisted) == [("1",)]
    logged.scan()
    assert rows(logged.catalog, unlisted) == [("0",)]


def test_a_log_of_the_same_size_is_not_read_again(logged):
    """Skip a log whose time alone changed."""
    path = log(logged.logs / "app-1.inprogress", "orders")
    assert logged.scan().files == 1

    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 60))
    assert logged.scan().files == 0

    log(path, "orders", "rates")
    assert logged.scan().files == 1
    assert logged.written() == ["orders", "rates"]


def test_a_pass_unpacks_a_bounded_amount(logged, monkeypatch):
    """Read the oldest first, and leave nothing behind, also after a pass that was killed."""
    for number, name in ((1, "orders"), (2, "rates")):
        path = log(logged.logs / f"app-{number}", name)
        packed = pack(logged.spark, path)
        os.utime(packed, (0, logged.began.timestamp() + number))
        size = path.stat().st_size
        path.unlink()
    logged.scratch.mkdir()
    (logged.scratch / "left").touch()
    monkeypatch.setattr(changed_logs, "MOST_UNPACKED_BYTES", size + 100)

    first = logged.scan()

    assert (first.files, first.is_partial, logged.written()) == (1, True, ["orders"])
    assert (logged.last(EVIDENCE_LISTED_AT), logged.last(EVIDENCE_READ_AT)) == (1, None)
    assert rows(logged.catalog, _JOINED_TO) == [("-1",)]  # not before all logs are read
    assert not logged.scratch.exists()

    second = logged.scan()

    assert (second.files, second.is_partial, second.problems) == (1, False, {})
    assert (logged.written(), logged.last(EVIDENCE_READ_AT)) == (["orders", "rates"], 2)
    assert rows(logged.catalog, _JOINED_TO) == [("0",)]


def test_the_first_part_of_a_too_large_file_is_read(logged, monkeypatch):
    """Report it, and do not unpack the file again."""
    path = log(logged.logs / "app-1", *(f"t{number}" for number in range(20)))
    pack(logged.spark, path)
    path.unlink()
    monkeypatch.setattr(changed_logs, "MOST_UNPACKED_BYTES", 5_000)

    found = logged.scan()

    (problem,) = found.problems.values()
    assert "more than 5000 bytes" in problem
    assert 0 < len(logged.written()) < 20
    assert logged.scan().files == 0


def test_the_scratch_folder_is_gone_after_an_error_too(logged, monkeypatch):
    """Delete gigabytes of unpacked files."""
    log(logged.logs / "app-1", "orders")

    def failing(*_given: object) -> None:
        assert logged.scratch.exists()
        raise RuntimeError

    monkeypatch.setattr(scan, "_read", failing)

    with pytest.raises(RuntimeError):
        logged.scan()
    assert not logged.scratch.exists()


def test_an_error_message_is_cut_after_its_secrets_are_taken_out(logged):
    """Redact first: the 2,000th character is part of the password."""
    path = log(logged.logs / "app-1", "orders")
    error = "x " * 977 + "cannot connect to jdbc:mysql://etl:hunter2CANARY@h/db"
    path.write_text(path.read_text().replace('"errorMessage":""', f'"errorMessage":"{error}"'))

    logged.scan()

    ((message,),) = rows(logged.catalog, "SELECT error_message FROM execution")
    assert message.endswith("cannot connect to jdbc:mysql://[redacted]@h/db")
    assert len(message) == 2_000
