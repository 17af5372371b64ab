"""Reader of the spool for the forwarder: in the order of commits, and never writing."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lineage.origins import FROM_MARQUEZ
from service.ingest.spool import LAST_SEQ, first, reading

_MAX_BYTES = 16_777_216
_AFTER = "SELECT seq, origin, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
_LATEST = "SELECT body FROM event ORDER BY seq DESC LIMIT ?"


class Spooled(msgspec.Struct, frozen=True):
    """Acknowledged event."""

    seq: int
    origin: str
    body: bytes

    @property
    def is_for_marquez(self) -> bool:
        """Return whether the event is forwarded; events that came from Marquez are not."""
        return self.origin not in FROM_MARQUEZ


def spooled_after(path: Path, seq: int, most: int) -> list[Spooled]:
    """Return the next events, up to 16 MiB of them; none where there is no spool yet."""
    found: list[Spooled] = []
    size = 0
    with reading(path) as spool:
        for row in spool.execute(_AFTER, (seq, most)) if spool else ():
            found.append(Spooled(*row))
            size += len(found[-1].body)
            if size >= _MAX_BYTES:
                break
    return found


def latest_bodies(path: Path, most: int) -> Iterator[bytes]:
    """Bodies of the newest events, the newest first."""
    with reading(path) as spool:
        for row in spool.execute(_LATEST, (most,)) if spool else ():
            yield row[0]


def last_seq(path: Path) -> int | None:
    """Return the last number given out; None where there is no spool."""
    with reading(path) as spool:
        return (first(spool, LAST_SEQ) or 0) if spool else None


def unforwarded(path: Path) -> int:
    """Events that left a full spool before their turn."""
    with reading(path) as spool:
        return (first(spool, "SELECT events FROM unforwarded") or 0) if spool else 0
