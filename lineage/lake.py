"""Where raw events lie in the lake, for all who read it: the pipeline writes it.

A folder is there for readers from the moment it has its name, and a folder that a compacted one
covers is not: so that they never see both or neither.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    import pyarrow.dataset as ds

BATCH: Final = "batch"
COMPACTED: Final = "compacted"


class Folder(msgspec.Struct, frozen=True):
    """A folder of the lake, with the first and the last event of the spool that it may hold."""

    path: Path
    first_seq: int
    last_seq: int

    @property
    def is_compacted(self) -> bool:
        """Made of several batches."""
        return self.path.name.startswith(COMPACTED)


def folders(lake: Path, committed_seq: int) -> list[Folder]:
    """List what readers see: committed batches, each once, in order.

    Args:
        lake: root folder of the lake.
        committed_seq: where the catalog ends; a batch behind it is not committed.
    """
    there = [folder for folder in every(lake) if folder.last_seq <= committed_seq]
    return uncovered(there)


def uncovered(found: list[Folder]) -> list[Folder]:
    """Leave out the folders that a compacted one covers."""
    kept: list[Folder] = []
    covered_to = 0
    # By their first event: whatever may cover a folder comes before it.
    for folder in sorted(found, key=_widest_first):
        if folder.last_seq > covered_to:
            kept.append(folder)
            covered_to = folder.last_seq if folder.is_compacted else covered_to
    return kept


def _widest_first(folder: Folder) -> tuple[int, int, bool]:
    return folder.first_seq, -folder.last_seq, not folder.is_compacted


def every(lake: Path) -> list[Folder]:
    """All folders, committed or not, in order."""
    if not lake.is_dir():
        return []
    found = [_parsed(path) for path in lake.iterdir() if path.name.startswith((BATCH, COMPACTED))]
    return sorted(found, key=lambda folder: folder.first_seq)


def _parsed(path: Path) -> Folder:
    _, first, last = path.name.split("-")
    return Folder(path, int(first), int(last))


def events(found: list[Folder]) -> "ds.Dataset":
    """The events of these folders."""
    # With pandas, which it brings, 90 MiB: a service that reads no lake need not hold them.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    partitioning = ds.partitioning(pa.schema([("event_date", pa.string())]), flavor="hive")
    return ds.dataset(
        [ds.dataset(folder.path, format="parquet", partitioning=partitioning) for folder in found]
    )
