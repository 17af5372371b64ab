import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from service.ingest.ship import reading
from service.ingest.ship.reading import GzipStream, Line, complete_lines, open_file
from tests.service.ingest.ship.written import Memory, as_lines, event, events, shipper


def _lines(file: Path, content: bytes, place: int = 0) -> list[Line]:
    file.write_bytes(content)
    with open_file(file) as stream:
        return list(complete_lines(stream, place, 1))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a stream of events."""
    return tmp_path / "events.jsonl"


def test_each_line_is_an_event_with_its_place(file: Path):
    """Return a position and a number for an empty line too."""
    found = _lines(file, b'{"a":1}\n\n{"b":2}\n')

    assert found == [
        Line(b'{"a":1}', 1, 8, 2),
        Line(b"", 2, 9, 3),
        Line(b'{"b":2}', 3, 17, 4),
    ]


@pytest.mark.parametrize("kept", [1, 2, 100, len(event(1)) - 1])
def test_half_a_line_is_left_for_later(file: Path, kept: int):
    """Count the line before it, wherever the writer was cut off."""
    content = as_lines([event(0)]) + event(1)[:kept]

    assert [line.body for line in _lines(file, content)] == [event(0)]


def test_a_whole_object_needs_no_line_end(file: Path):
    """Count it, as nothing can follow but the newline that its writer did not write."""
    found = _lines(file, as_lines([event(0)]) + event(1))

    assert [line.body for line in found] == [event(0), event(1)]
    assert found[-1].end == file.stat().st_size
    assert [line.number for line in _lines(file, file.read_bytes() + b"\n", found[-1].end)] == [1]


def test_an_event_behind_half_of_another_is_saved(file: Path):
    """Read the first event of a job's next start behind the last line of a killed one."""
    found = _lines(file, event(0)[:100] + as_lines([event(1), event(2)]))

    assert [line.body for line in found] == [event(0)[:100], event(1), event(2)]
    # Who is killed between the two begins with the line again.
    assert [line.end for line in found[:2]] == [0, 100 + len(event(1)) + 1]


def test_a_line_longer_than_a_read_is_one_event(file: Path):
    """Read 3 MiB of wide tables in a line, between two short ones."""
    bodies = [event(0), event(1, padding=3_000_000), event(2)]

    assert [line.body for line in _lines(file, as_lines(bodies))] == bodies


def test_a_line_without_end_does_not_fill_the_memory(file: Path, monkeypatch):
    """Cut a line over any bound into pieces, to be rejected."""
    monkeypatch.setattr(reading, "MOST_BYTES", 2_000_000)

    found = _lines(file, b"x" * 2_500_000 + b"\n" + as_lines([event(0)]))

    assert [len(line.body) for line in found] == [2_000_000, 500_000, len(event(0))]


def test_an_event_over_several_lines_is_one(file: Path):
    """Read it as Python's client writes files for people; half of it waits."""
    whole = json.dumps(json.loads(event(0)), indent=2).encode() + b"\n"

    assert _lines(file, whole[:-10]) == []
    assert [line.body for line in _lines(file, whole)] == [whole.strip()]


def test_a_compressed_file_is_read_as_what_is_in_it(file: Path):
    """Read one that is still being compressed, as far as it goes."""
    bodies = [event(number, padding=number % 97) for number in range(5_000)]
    content = gzip.compress(as_lines(bodies))

    assert [line.body for line in _lines(file, content)] == bodies
    cut = [line.body for line in _lines(file, content[: len(content) // 2])]
    assert cut == bodies[: len(cut)]


class Counted(io.FileIO):
    """File that counts how much was read of it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Count it."""
        found = super().read(size) or b""
        Counted.taken += len(found)
        return found


@pytest.fixture
def small_pieces(monkeypatch):
    """Treat a file of a megabyte by these bounds like a gigabyte by the real ones."""
    monkeypatch.setattr(reading, "_PIECE_BYTES", 8_192)
    monkeypatch.setattr(reading, "_KEPT_BYTES", 200_000)


def _read_in_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[float, list[bytes]]:
    """Return how many times over the file was read until all was shipped; and the events."""
    content = gzip.compress(as_lines(events(0, 5_000)))
    (folder / "events.jsonl.gz").write_bytes(content)
    opened, memory = Path.open, Memory()

    def counting(file: Path, mode: str) -> Any:  # noqa: ANN401 - as Path.open
        return Counted(file, "rb") if file.suffix == ".gz" else opened(file, mode)

    monkeypatch.setattr(Path, "open", counting)
    Counted.taken = 0
    shipper(folder, memory).ship_all()
    return Counted.taken / len(content), memory.bodies


@pytest.mark.usefixtures("small_pieces")
def test_a_large_gzip_is_inflated_once(tmp_path: Path, monkeypatch):
    """Read ten batches and note the place of each: once to look for it, once to ship it."""
    times, bodies = _read_in_all(tmp_path, monkeypatch)

    assert bodies == events(0, 5_000)
    assert times < 3


@pytest.mark.usefixtures("small_pieces")
def test_without_a_cache_each_batch_inflates_all_before_it(tmp_path: Path, monkeypatch):
    """Read more often with more batches (mutant)."""
    monkeypatch.setattr(reading, "GzipStream", lambda content: content)

    times, bodies = _read_in_all(tmp_path, monkeypatch)

    assert bodies == events(0, 5_000)
    assert times > 10


def test_any_place_is_read_as_the_content_has_it(tmp_path: Path, monkeypatch):
    """Read forwards, a little back, far back and beyond the end, with any cache."""
    monkeypatch.setattr(reading, "_PIECE_BYTES", 100)
    monkeypatch.setattr(reading, "_KEPT_BYTES", 1_000)
    content = as_lines(events(0, 50))
    file = tmp_path / "events.jsonl.gz"
    file.write_bytes(gzip.compress(content))
    chance = random.Random(7)  # noqa: S311 - of places

    with file.open("rb") as stream, gzip.GzipFile(fileobj=stream) as raw:
        asked = GzipStream(raw)
        for _ in range(500):
            place, most = chance.randrange(len(content) + 200), chance.randrange(1, 3_000)
            asked.seek(place)
            assert asked.read(most) == content[place : place + most]
