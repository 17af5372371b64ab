import gzip
import io
import random
from pathlib import Path
from typing import Any

import pytest

from service.ingest.ship import gzip_stream, reading
from service.ingest.ship.gzip_stream import GzipStream
from tests.service.ingest.ship.written import Memory, as_lines, events, shipper


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
    monkeypatch.setattr(gzip_stream, "_PIECE_BYTES", 8_192)
    monkeypatch.setattr(gzip_stream, "_KEPT_BYTES", 200_000)
    monkeypatch.setattr(reading, "_PIECE_BYTES", 8_192)


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
    monkeypatch.setattr(gzip_stream, "_PIECE_BYTES", 100)
    monkeypatch.setattr(gzip_stream, "_KEPT_BYTES", 1_000)
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
