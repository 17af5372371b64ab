"""Checkpoints of the spool's log beside its writer, which does not wait for them."""

import sqlite3

import pytest
from structlog.testing import capture_logs

from collector import spool_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spool.db"


def _write(connection, count, prefix=0):
    rows = [(b"%d-%d" % (prefix, n), 0, "http", "run", bytes(4_000)) for n in range(count)]
    sql = "INSERT INTO event (body_hash, received_at, origin, kind, body) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(sql, rows)


def test_the_file_has_what_was_only_in_the_log(path):
    writer = spool_file.open_spool(path, 1 << 30)
    writer.execute("BEGIN IMMEDIATE")
    _write(writer, 200)
    writer.execute("COMMIT")
    before = path.stat().st_size
    beside = sqlite3.connect(path, isolation_level=None)

    assert spool_file.checkpoint(beside)

    assert before < 200 * 4_000 < path.stat().st_size


def test_a_writer_in_the_middle_of_a_commit_is_not_disturbed(path):
    writer = spool_file.open_spool(path, 1 << 30)
    writer.execute("BEGIN IMMEDIATE")
    _write(writer, 200)

    assert spool_file.checkpoint(sqlite3.connect(path, isolation_level=None))

    writer.execute("COMMIT")
    assert writer.execute("SELECT count(*) FROM event").fetchone() == (200,)


def test_a_log_that_reached_its_bound_starts_again(path, monkeypatch):
    monkeypatch.setattr(spool_file, "LOG_PAGES", 100)
    writer = spool_file.open_spool(path, 1 << 30)

    for round_ in range(20):
        writer.execute("BEGIN IMMEDIATE")
        _write(writer, 50, round_)
        writer.execute("COMMIT")

    log = path.with_name("spool.db-wal")
    assert log.stat().st_size < 300 * 4_200


def test_a_failed_copy_is_logged_once(path):
    path.write_bytes(b"this is no database, and longer than the header of one is" * 10)
    connection = sqlite3.connect(path, isolation_level=None)

    with capture_logs() as logs:
        assert not spool_file.checkpoint(connection)
        assert not spool_file.checkpoint(connection, say=False)

    assert [line["event"] for line in logs] == ["spool_checkpoint_failed"]
