"""Writer of the lake: each event is stored once, at any failure before the commit."""

from contextlib import suppress
from datetime import timedelta

import pytest

from lineage.catalog.epochs import StaleEpochError
from lineage.process.clock import to_micros
from slis.lake import batches, compaction, retention
from slis.lake.names import BATCH
from tests.slis.lake.lakes import (
    NOON,
    commit,
    event_row,
    lay,
    read_seqs,
    visible,
    with_two_days,
    write,
    writer_of,
)

pytestmark = pytest.mark.postgres_nightly


class Killed(BaseException):
    """End of a process, as an exception."""


@pytest.fixture
def writer(catalog, tmp_path):
    """Make the writer of a pipeline that has landed two batches of two days."""
    return with_two_days(writer_of(catalog, tmp_path))


def _folders(writer):
    return sorted(path.name for path in writer.lake.folder.iterdir() if path.is_dir())


def test_readers_see_committed_batches_only(writer):
    """Write files first: without their rows nobody reads them."""
    folders = write(writer, event_row(5))
    assert read_seqs(writer) == [1, 2, 3, 4]

    commit(writer, folders)

    assert read_seqs(writer) == [1, 2, 3, 4, 5]
    assert [folder.event_date for folder in visible(writer)] == [
        *("2026-11-20", "2026-11-21"),
        *("2026-11-21", "2026-11-21"),
    ]


@pytest.mark.postgres_always
def test_a_pipeline_that_was_replaced_commits_nothing_and_deletes_nothing(writer, tmp_path):
    """Pause it before its commit; meanwhile another pipeline starts."""
    folders = write(writer, event_row(5))
    newer = writer_of(writer.engine, tmp_path, NOON + timedelta(days=9))
    lay(newer, event_row(5))
    before = _folders(newer)
    writer.give_up(newer.name_folder(BATCH, 5, 5))
    later = NOON + timedelta(days=999)

    for action in (
        lambda: commit(writer, folders),
        lambda: writer.pass_over(lambda _: None),
        writer.delete_failed,
        lambda: compaction.compact(writer, 0),
        lambda: retention.forget(writer, later.date(), later),
        lambda: retention.date_back(writer, NOON.date() - timedelta(days=99)),
        lambda: retention.delete_hidden(writer, later),
        lambda: retention.delete_unknown(writer, later),
    ):
        with pytest.raises(StaleEpochError, match=r"its epoch is 2, and this process has 1"):
            action()

    assert read_seqs(newer) == [1, 2, 3, 4, 5]
    assert set(before) <= set(_folders(newer))


@pytest.mark.parametrize("failed_in", ["record_folders", "commit"])
def test_a_failed_batch_is_deleted_by_the_next_and_its_retry_is_stored_once(
    writer, monkeypatch, failed_in
):
    """Fail after the files, and after the rows beside them."""

    def fail(*_: object):
        raise OSError(5, "Input/output error")

    def attempt():
        with writer.folder(BATCH, 5, 5) as name:
            table = batches.pa.Table.from_pylist([event_row(5)], batches.event_schema())
            folders = batches.write_raw(table, writer.lake, name)
            commit(writer, folders)

    with monkeypatch.context() as patch:
        patch.setattr(*((batches if failed_in == "record_folders" else writer), failed_in), fail)
        with pytest.raises(OSError, match="Input/output"):
            attempt()
    assert len(_folders(writer)) == 3
    assert read_seqs(writer) == [1, 2, 3, 4]

    writer.delete_failed()
    attempt()

    assert read_seqs(writer) == [1, 2, 3, 4, 5]
    assert len(_folders(writer)) == 3


def test_a_commit_without_an_answer_keeps_its_files(writer):
    """Break the connection during the commit: the catalog shows that the batch has landed."""
    with suppress(ConnectionError), writer.folder(BATCH, 5, 5) as name:
        table = batches.pa.Table.from_pylist([event_row(5)], batches.event_schema())
        commit(writer, batches.write_raw(table, writer.lake, name))
        raise ConnectionError

    writer.delete_failed()

    assert read_seqs(writer) == [1, 2, 3, 4, 5]


@pytest.mark.postgres_nightly(but="behind the deletion")
@pytest.mark.parametrize(
    ("module", "step"),
    [
        (compaction, "rewrite"),
        (compaction, "record_folders"),
        (compaction, "hide_folders"),
        (retention, "find_committed"),
    ],
    ids=["before the files", "before their rows", "before the commit", "behind the deletion"],
)
def test_a_compaction_killed_at_any_step_leaves_each_event_once(
    writer, monkeypatch, tmp_path, module, step
):
    """Kill it, look, start the next process, and let that one finish the work."""

    def killed(*_: object):
        raise Killed

    hour = timedelta(hours=1)
    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(module, step, killed)
        compaction.compact(writer, to_micros(NOON), compaction.rewrite)
        retention.delete_hidden(writer, NOON + hour)
        pytest.fail("nothing was killed")
    assert read_seqs(writer) == [1, 2, 3, 4]

    again = writer_of(writer.engine, tmp_path)
    while compaction.compact(again, to_micros(NOON + hour)):
        pass
    retention.delete_hidden(again, NOON + 2 * hour)
    retention.delete_unknown(again, NOON + timedelta(days=999))

    assert read_seqs(again) == [1, 2, 3, 4]
    assert len(_folders(again)) == 1


def test_a_deletion_killed_between_files_is_finished_by_the_next_process(
    writer, monkeypatch, tmp_path
):
    """Delete rows after their files: only rows name the files."""

    def killed(*_: object):
        raise Killed

    compaction.compact(writer, to_micros(NOON))
    later = NOON + timedelta(hours=1)
    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(type(writer.lake), "delete", killed)
        retention.delete_hidden(writer, later)

    again = writer_of(writer.engine, tmp_path)
    assert retention.delete_hidden(again, later) == 3

    assert read_seqs(again) == [1, 2, 3, 4]
    assert len(_folders(again)) == 1


def test_uncommitted_files_are_deleted_after_a_day_once_their_events_are_stored(writer, tmp_path):
    """Keep what this process writes, what is young, what is another catalog's or not landed."""
    write(writer, event_row(3), event_row(4))  # its process was killed
    write(writer, event_row(5))  # not landed: a restore may need it
    again = writer_of(writer.engine, tmp_path)
    write(again, event_row(4))  # in flight
    foreign = again.lake.folder / f"e1-00000000-batch-{1:020}-{2:020}-00000000"
    foreign.mkdir()
    now = again.lake.folder.stat().st_mtime
    at = NOON.fromtimestamp(now, NOON.tzinfo)

    assert retention.delete_unknown(again, at + timedelta(hours=23)) == 0
    assert retention.delete_unknown(again, at + timedelta(hours=25)) == 1
    assert retention.delete_unknown(again, at + timedelta(hours=25)) == 0

    assert read_seqs(again) == [1, 2, 3, 4]
    assert foreign.is_dir()


def test_rows_of_a_batch_are_undone_with_its_transaction(writer):
    """Write the rows in the batch's own transaction."""
    folders = write(writer, event_row(5))
    with suppress(Killed), writer.turn() as connection:
        writer.commit(connection, folders)
        raise Killed

    assert read_seqs(writer) == [1, 2, 3, 4]
