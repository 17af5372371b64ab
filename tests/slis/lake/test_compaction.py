"""Compaction of many folders into few, in bounded steps."""

import shutil
from datetime import timedelta

import pytest
from msgspec.structs import replace

from lineage.lake.manifest import Folder
from lineage.lake.reading import LakeChangedError, read_again, read_events
from lineage.process.clock import to_micros
from slis.lake import compaction, retention
from slis.lake.compaction import MOST_BYTES, MOST_FILES, choose_piece, compact, is_scattered
from slis.lake.listing import list_names
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, visible, with_two_days, writer_of

_KIB = 1 << 10


@pytest.fixture
def writer(embedded, tmp_path):
    """Make the writer of a pipeline that has landed two batches of two days."""
    return with_two_days(writer_of(embedded, tmp_path))


def _folder(number: int, *, size: int = _KIB, last: int | None = None) -> Folder:
    """Return a folder that no file system has."""
    kind = "batch" if last is None else "compacted"
    return Folder(
        path=f"{kind}-{number}/event_date=2026-11-21",
        event_date="2026-11-21",
        first_seq=number,
        last_seq=last or number,
        epoch=1,
        is_compacted=last is not None,
        names=("a.parquet",),
        events=1,
        size=size,
    )


def test_compaction_leaves_each_event_once(writer):
    """Put one folder in the place of two; keep days apart, with what each event was."""
    before = read_events(writer.lake, visible(writer)).to_table().sort_by("seq")

    assert compact(writer, to_micros(NOON))

    after = visible(writer)
    assert [(f.event_date, f.events, f.is_compacted) for f in after] == [
        ("2026-11-20", 1, True),
        ("2026-11-21", 3, True),
    ]
    assert len({folder.batch for folder in after}) == 1
    assert read_events(writer.lake, after).to_table().sort_by("seq") == before
    assert not compact(writer, to_micros(NOON))


def test_small_compacted_folders_are_compacted_again():
    """Rewrite each event rarely, and keep the number of folders small."""
    lake: list[Folder] = []
    rewritten = 0
    for first in range(1, 201, 2):
        lake += [_folder(first), _folder(first + 1)]
        piece = choose_piece(lake)
        size = sum(folder.size for folder in piece)
        rewritten += size // _KIB
        lake = [folder for folder in lake if folder not in piece]
        lake.append(_folder(piece[0].first_seq, size=size, last=piece[-1].last_seq))

    assert len(lake) < 10
    assert rewritten < 200 * 10


def test_a_piece_is_bounded_in_files_and_bytes():
    """Bound the memory of a turn after an outage with thousands of waiting batches."""
    many = [_folder(number) for number in range(1, 1_301)]
    assert [folder.first_seq for folder in choose_piece(many)] == list(range(1, MOST_FILES + 1))

    large = [_folder(number, size=MOST_BYTES // 4 + 1) for number in range(1, 10)]
    assert [folder.first_seq for folder in choose_piece(large)] == [1, 2, 3]

    assert choose_piece([_folder(1, size=MOST_BYTES + 1), _folder(2)]) == []


def test_batches_of_very_many_days_are_compacted_two_at_a_time():
    """Load a history that has a file for each day of years in each batch."""
    lake = [
        replace(_folder(number), path=f"batch-{number}/event_date={day}")
        for number in (1, 2, 3)
        for day in range(MOST_FILES)
    ]

    assert {folder.batch for folder in choose_piece(lake)} == {"batch-1", "batch-2"}


def test_pieces_of_many_batches_rewrite_no_piece_before_them():
    """Join the compacted folder with the last piece only."""
    lake = [_folder(1, last=500), *(_folder(number) for number in range(501, 1_400))]

    assert choose_piece(lake)[0].first_seq == 501


def test_a_batch_whose_days_are_not_all_listed_is_left_out(writer, monkeypatch):
    """List the newest folders only: half of a batch would be lost for the other half."""
    lay(writer, event_row(5))
    monkeypatch.setattr(compaction, "_MOST_LISTED", 3)

    assert compact(writer, to_micros(NOON))

    assert read_seqs(writer) == [1, 2, 3, 4, 5]
    assert [f.first_seq for f in visible(writer) if f.is_compacted] == [3]


def test_many_batches_are_compacted_before_the_hour_is_over(writer, monkeypatch):
    """Compact in time: the lake would grow by a file a second, and a reader opens each file."""
    assert not is_scattered(writer)
    monkeypatch.setattr(compaction, "_MOST_BATCHES", 1)
    assert is_scattered(writer)


def test_events_that_do_not_arrive_stop_the_compaction(writer, monkeypatch):
    """Replace rows only for the same number of events."""
    monkeypatch.setattr(compaction, "write_batches", lambda *_: [])

    with pytest.raises(OSError, match="0 events of 4"):
        compact(writer, to_micros(NOON))
    writer.delete_failed()

    assert read_seqs(writer) == [1, 2, 3, 4]
    assert len(list_names(writer.lake)) == 2


def test_retention_during_a_compaction_wins(writer):
    """Leave days out of the new folder that were hidden meanwhile."""

    def hide_first(*given):  # noqa: ANN002 - as `rewrite`
        files = compaction.rewrite(*given)
        retention.forget(writer, NOON.date(), NOON)
        return files

    assert not compact(writer, to_micros(NOON), hide_first)
    writer.delete_failed()

    assert read_seqs(writer) == [1, 3, 4]


def test_a_reader_tries_again_with_the_new_manifest(writer):
    """Compact and delete between its list and its read."""
    old = visible(writer)
    compact(writer, to_micros(NOON))
    retention.delete_hidden(writer, NOON + timedelta(hours=1))
    lists = [visible(writer), old]

    assert read_again(lists.pop, lambda folders: read_seqs(writer, folders)) == [1, 2, 3, 4]
    with pytest.raises(LakeChangedError, match="ask again"):
        read_again(lambda: old, lambda folders: read_seqs(writer, folders))


def test_the_old_files_are_kept_for_readers_that_listed_them(writer):
    """Delete them when the grace period is over."""
    old = visible(writer)
    compact(writer, to_micros(NOON))

    retention.delete_hidden(writer, NOON + retention.GRACE)
    assert read_seqs(writer, old) == [1, 2, 3, 4]

    retention.delete_hidden(writer, NOON + retention.GRACE + timedelta(seconds=1))
    with pytest.raises(FileNotFoundError):
        read_seqs(writer, old)


def test_a_compaction_needs_twice_its_room(writer, monkeypatch):
    """Compact nothing on a disk that is nearly full."""
    usage = shutil.disk_usage(writer.lake.folder)._replace(free=1)
    monkeypatch.setattr(compaction.shutil, "disk_usage", lambda _: usage)

    with pytest.raises(OSError, match="bytes free on its disk"):
        compact(writer, to_micros(NOON))

    assert len(list_names(writer.lake)) == 2


def test_a_piece_that_grew_a_folder_meanwhile_is_left_to_the_next_turn(writer):
    """Leave a batch that lands during a compaction as it is."""

    def land_first(*given):  # noqa: ANN002 - as `rewrite`
        files = compaction.rewrite(*given)
        lay(writer, event_row(5))
        return files

    assert compact(writer, to_micros(NOON), land_first)

    assert read_seqs(writer) == [1, 2, 3, 4, 5]
