"""Retention of a folder without a row: deleted only where the lake has its events twice."""

from datetime import date, timedelta

import pytest
from structlog.testing import capture_logs

from slis.lake import retention
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, write, writer_of

_DAY = timedelta(days=1)
_LATER = timedelta(days=9_999)


@pytest.fixture
def writer(embedded, tmp_path):
    """Return the writer of a catalog that has landed two events."""
    found = writer_of(embedded, tmp_path)
    lay(found, event_row(1), event_row(2, NOON - _DAY))
    return found


def _delete_unknown(writer, kept_from=date.min):
    with capture_logs() as logged:
        found = retention.delete_unknown(writer, NOON + _LATER, kept_from)
    return found, [one["folder"] for one in logged if one["event"] == "lake_folder_kept"]


def test_retention_keeps_events_unknown_to_the_catalog(writer, embedded, tmp_path):
    """Restore a copy behind Kafka: the numbers 3 and 4 are given to other events."""
    lost = write(writer, event_row(3, body=b"first life"), event_row(4))[0].batch
    lay(writer, event_row(3, body=b"second life"), event_row(4))
    again = writer_of(embedded, tmp_path)
    _ = again.started

    assert _delete_unknown(again) == (0, [lost])
    assert _delete_unknown(again) == (0, [])  # it is neither read nor logged each hour

    assert (again.lake.folder / lost).is_dir()
    assert read_seqs(again) == [1, 2, 3, 4]


def test_retention_deletes_unknown_days_that_have_passed_their_retention(
    writer, embedded, tmp_path
):
    """Delete a day that the batch with the same events has lost as well."""
    write(writer, event_row(1), event_row(2, NOON - _DAY))
    retention.forget(writer, NOON.date(), NOON)
    again = writer_of(embedded, tmp_path)
    _ = again.started

    assert _delete_unknown(again, kept_from=NOON.date()) == (1, [])


def test_retention_deletes_a_file_that_was_cut_short(writer, embedded, tmp_path):
    """Kill a process while it writes the file."""
    [folder] = write(writer, event_row(2, body=b"cut"))
    file = writer.lake.folder / folder.file_paths[0]
    file.write_bytes(file.read_bytes()[:-20])
    again = writer_of(embedded, tmp_path)
    _ = again.started

    assert _delete_unknown(again) == (1, [])


def test_retention_keeps_a_folder_that_cannot_be_read(writer, embedded, tmp_path, monkeypatch):
    """Delete the other folders nevertheless."""

    def fail(*_: object):
        raise OSError(5, "Input/output error")

    batch = write(writer, event_row(1))[0].batch
    again = writer_of(embedded, tmp_path)
    _ = again.started
    monkeypatch.setattr(retention, "has_copies", fail)

    assert _delete_unknown(again) == (0, [batch])
