import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from service.errors import RejectedInputError
from service.ingest.collector_client import UploadStoppedError
from service.ingest.ship import positions
from service.ingest.ship.folder_sender import FolderSender, Unfinished
from service.ingest.ship.positions import Positions
from tests.service.ingest.ship.written import Memory, append, as_lines, event, events, shipper


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder where the job writes."""
    folder = tmp_path / "openlineage"
    folder.mkdir()
    return folder


def test_appended_events_are_shipped_once(folder: Path):
    """Ship by one process that goes on, and by the next."""
    memory = Memory()
    running = shipper(folder, memory)
    append(folder / "events.jsonl", events(0, 3))
    running.ship_all()
    append(folder / "events.jsonl", events(3, 5))
    running.ship_all()
    append(folder / "events.jsonl", events(5, 6))
    shipper(folder, memory).ship_all()

    assert memory.bodies == events(0, 6)
    assert running.report.taken == 5


def test_half_a_line_is_waited_for(folder: Path):
    """Report it as unfinished, and ship it when it is complete."""
    memory = Memory()
    running = shipper(folder, memory)
    (folder / "events.jsonl").write_bytes(as_lines(events(0, 1)) + event(1)[:50])
    running.ship_all()
    before = list(memory.bodies), running.report.unfinished
    append(folder / "events.jsonl", [event(1)[50:]])
    running.ship_all()

    assert before == (events(0, 1), [Unfinished("events.jsonl", 2)])
    assert memory.bodies == events(0, 2)
    assert running.report.unfinished == []


def _rename(file: Path) -> None:
    file.rename(file.with_name("events.jsonl.1"))


def _copy_and_truncate(file: Path) -> None:
    shutil.copy(file, file.with_name("events.jsonl.1"))
    os.truncate(file, 0)


def _compress(file: Path) -> None:
    _rename(file)
    old = file.with_name("events.jsonl.1")
    old.with_name("events.jsonl.1.gz").write_bytes(gzip.compress(old.read_bytes()))
    old.unlink()


@pytest.mark.parametrize("rotate", [_rename, _copy_and_truncate, _compress])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_rotation_neither_loses_nor_repeats(folder: Path, rotate, is_restarted):
    """Ship what was written just before a file was renamed, copied and cut, or compressed."""
    memory = Memory()
    file = folder / "events.jsonl"
    running = shipper(folder, memory)
    append(file, events(0, 20))
    running.ship_all()
    append(file, events(20, 30))
    rotate(file)
    append(file, events(30, 60))  # longer than what was shipped of the old one
    (shipper(folder, memory) if is_restarted else running).ship_all()

    assert sorted(memory.bodies) == sorted(events(0, 60))


def test_a_new_file_with_an_old_inode_is_new(folder: Path):
    """Ship it whole, as the kernel reuses inodes."""
    memory = Memory()
    append(folder / "events.jsonl", events(0, 3))
    shipper(folder, memory).ship_all()
    # The same inode, which cannot be had for the asking.
    (folder / "events.jsonl").write_bytes(as_lines(events(7, 14)))
    shipper(folder, memory).ship_all()

    assert memory.bodies == events(0, 3) + events(7, 14)


def test_one_file_for_each_event_is_followed_too(folder: Path):
    """Write as Python's client does, by default without appending."""
    memory = Memory()
    for number in range(4):
        append(folder / f"lineage-20261121-09000{number}.000000.json", [event(number)])
    shipper(folder, memory).ship_all()

    assert sorted(memory.bodies) == events(0, 4)


def test_a_line_without_an_event_is_reported_with_its_line_and_blocks_nothing(folder: Path):
    """Let the collector reject it; ship what follows."""
    memory = Memory()
    running = shipper(folder, memory)
    append(folder / "events.jsonl", [event(0), b"starting up", b"{}", event(1)])
    running.ship_all()
    shipper(folder, memory).ship_all()

    assert memory.bodies == [event(0), b"starting up", b"{}", event(1)]
    assert [(one.file, one.position) for one in running.report.rejections] == [
        ("events.jsonl", 2),
        ("events.jsonl", 3),
    ]
    assert (running.report.taken, running.report.rejected) == (2, 2)


def test_other_files_are_left_alone(folder: Path):
    """Ignore hidden files, folders, links to other places, and other names."""
    memory = Memory()
    for name in (".events.jsonl", "app-1.inprogress", "core"):
        append(folder / name, events(0, 1))
    (folder / "logs.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(folder / "core")
    shipper(folder, memory).ship_all()

    assert memory.bodies == []


class Hasty(FolderSender):
    """Run the mutant: store the position before the collector has answered."""

    _waiting = None

    def _post(self, name, lot):
        waiting, self._waiting = self._waiting, (name, lot)
        if waiting:
            super()._post(*waiting)


@pytest.mark.parametrize(("kind", "lost"), [(FolderSender, 0), (Hasty, 500)])
def test_a_position_is_stored_only_after_the_answer(
    folder: Path, kind: type[FolderSender], lost: int
):
    """Lose nothing by dying between two batches; with the place noted first, lose a batch."""
    append(folder / "events.jsonl", events(0, 1_400))
    memory = Memory(dies_after=1 if kind is FolderSender else 0)
    with pytest.raises(UploadStoppedError):
        shipper(folder, memory, kind).ship_all()
    after = Memory()
    shipper(folder, after).ship_all()

    assert len(set(events(0, 1_400)) - set(memory.bodies) - set(after.bodies)) == lost


def test_an_unreadable_state_is_not_overwritten(tmp_path: Path):
    """Name the choice to ship everything again."""
    (tmp_path / "positions.json").write_text("[{")

    with pytest.raises(RejectedInputError, match="remove it to ship everything again"):
        Positions(tmp_path / "positions.json")


def test_positions_of_missing_files_are_bounded(folder: Path, monkeypatch):
    """Keep the latest, as a folder may be away for a while."""
    monkeypatch.setattr(positions, "_MOST_GONE", 1)
    memory = Memory()
    running = shipper(folder, memory)
    for number in range(3):
        append(folder / f"{number}.json", [event(number)])
        running.ship_all()
    (folder / "3.json").touch()  # so that it gets the inode of none that is gone
    for number in range(3):
        (folder / f"{number}.json").unlink()
    running.ship_all()
    append(folder / "3.json", [event(3)])
    running.ship_all()

    kept = json.loads((folder / ".state.json").read_bytes())
    assert [one["name"] for one in kept] == ["2.json", "3.json"]
