import gzip
import json
from pathlib import Path

import pytest

from service.ingest.ship import reading
from service.ingest.ship.reading import Line, lines, open_file
from tests.service.ingest.ship.written import as_lines, event


def _lines(file: Path, content: bytes, place: int = 0) -> list[Line]:
    file.write_bytes(content)
    with open_file(file) as stream:
        return list(lines(stream, place, 1))


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
