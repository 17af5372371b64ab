"""Retention: it hides days of the lake first, and deletes their files later."""

import os
import shutil
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from lineage.catalog.tables import lake_folder
from lineage.process.clock import to_micros
from slis.lake import compaction, retention
from slis.lake.listing import list_names
from slis.settings import PipelineSettings
from slis.stream.prune import prune_lake_and_catalog
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, visible, writer_of
from tests.suite.disks import fill, small_disk

_DAY = timedelta(days=1)
_LATER = NOON + timedelta(hours=1)


@pytest.fixture
def writer(embedded, tmp_path):
    """Make the writer of a pipeline that has landed two batches of two days."""
    found = writer_of(embedded, tmp_path)
    lay(found, event_row(1), event_row(2, NOON - _DAY))
    lay(found, event_row(3, NOON - _DAY))
    return found


def test_days_past_their_retention_go(writer):
    """Take the day before out of every folder, and delete a folder that is left empty."""
    assert retention.forget(writer, NOON.date(), NOON) == 2
    assert read_seqs(writer) == [1]
    assert len(list(writer.lake.folder.glob("*/event_date=*"))) == 3

    assert retention.delete_hidden(writer, _LATER) == 2

    [left] = writer.lake.folder.glob("*/event_date=*")
    assert left.name == "event_date=2026-11-21"
    assert len(list_names(writer.lake)) == 1
    with writer.engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(lake_folder)) == 1


@pytest.mark.parametrize("ahead", [2, 9, 9_999])
def test_a_day_that_has_not_come_is_deleted_in_its_turn(writer, ahead):
    """Store events of a clock ahead under today."""
    lay(writer, event_row(4, NOON + ahead * _DAY))

    assert retention.date_back(writer, NOON.date()) == 1
    assert read_seqs(writer) == [1, 2, 3, 4]
    compaction.compact(writer, to_micros(NOON))
    assert {folder.event_date for folder in visible(writer)} == {"2026-11-20", "2026-11-21"}

    retention.forget(writer, (NOON + _DAY).date(), NOON)
    assert read_seqs(writer) == []


@pytest.fixture
def disk(tmp_path):
    """Mount a disk of 32 MiB."""
    with small_disk(tmp_path / "small", 32 << 20) as path:
        yield path


def _noise(seq, at):
    return event_row(seq, at, body=os.urandom(4 << 20))


@pytest.mark.parametrize("leave", [3 << 20, 0])
def test_retention_frees_a_full_disk(disk, embedded, leave):
    """Delete before anything is rewritten, and leave nothing half-written behind."""
    writer = writer_of(embedded, disk)
    lay(writer, *(_noise(seq, NOON - 100 * _DAY) for seq in (1, 2, 3)))
    lay(writer, _noise(4, NOON - _DAY))
    lay(writer, _noise(5, NOON))
    fill(disk, leave=leave)
    before = shutil.disk_usage(disk).free

    with pytest.raises(OSError, match="bytes free on its disk"):
        compaction.compact(writer, to_micros(NOON))
    assert shutil.disk_usage(disk).free >= before
    prune_lake_and_catalog(writer, PipelineSettings(), NOON, lake_days=90)
    retention.delete_hidden(writer, _LATER)

    assert shutil.disk_usage(disk).free > before + (11 << 20)
    assert read_seqs(writer) == [4, 5]


def test_a_disk_that_fills_during_a_compaction_gets_its_room_back(disk, embedded, monkeypatch):
    """Release the space, although other programs write to the disk as well."""
    writer = writer_of(embedded, disk)
    lay(writer, _noise(1, NOON))
    lay(writer, _noise(2, NOON))
    monkeypatch.setattr(compaction, "_check_room", lambda *_: None)
    fill(disk, leave=2 << 20)
    before = shutil.disk_usage(disk).free

    with pytest.raises(OSError, match=r"(?i)space"):
        compaction.compact(writer, to_micros(NOON))
    writer.delete_failed()

    assert shutil.disk_usage(disk).free >= before
    assert read_seqs(writer) == [1, 2]
    assert len(list_names(writer.lake)) == 2
