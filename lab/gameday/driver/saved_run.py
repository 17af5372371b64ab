"""Saved game day in a folder: its plan, and the results of evaluation, slab by slab.

`--reuse` begins here: after a change of how incidents are made, they run again in seconds.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from lab.gameday.estate import Shape
from lab.gameday.faults import Day
from lab.gameday.policy import policy_text
from lab.gameday.truth_shapes import Truth
from lab.replay.arrivals import ACTIVITY_ARROW
from lineage.policy import Policy, parse_policy
from service.errors import RejectedInputError

_CHANGES, _ACTIVITY = "changes", "activity"
_PLAN, _POLICY, _SLABS, _SLAB = "plan.json", "lineward.yaml", "slabs", "slab.json"


class NotKeptError(RejectedInputError):
    """Error: the folder holds no whole game day; the message says what is missing."""


class SavedDay(msgspec.Struct, frozen=True):
    """Request and result of a game day.

    Attributes:
        slabs: how many there are; 0 until all is done.
        peak_bytes: largest resident size of Python and the JVM together.
    """

    shape: Shape
    faults: int
    truth: Truth
    slabs: int = 0
    peak_bytes: int = 0


class SlabFigures(msgspec.Struct, frozen=True):
    """Slab with its duration.

    Attributes:
        starts_at: µs.
        ends_at: µs.
        events: that were taken.
        lost: that came while nobody listened.
        seconds: of each step.
    """

    starts_at: int
    ends_at: int
    events: int
    lost: int
    is_deaf: bool
    seconds: dict[str, float]


class SavedSlab(msgspec.Struct, frozen=True):
    """Input of the walk from a slab: see `lab.replay.slab.JudgedRows`."""

    figures: SlabFigures
    changes: pa.Table
    activity: pa.Table
    tables: dict[str, pa.Table]


class SavedRun:
    """Folder of the game day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def policy_file(self) -> Path:
        """Return the path of the estate's policy."""
        return self.folder / _POLICY

    def begin(self, shape: Shape, day: Day, policy: Policy) -> None:
        """Write down what is to be done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.policy_file.write_text(policy_text(policy), encoding="utf-8")
        self._write(SavedDay(shape, len(day.truth.faults), day.truth))

    def add(self, number: int, slab: SavedSlab) -> None:
        """Write down what one slab came to."""
        folder = self._slab(number)
        folder.mkdir(parents=True, exist_ok=True)
        parts = slab.tables | {_CHANGES: slab.changes, _ACTIVITY: slab.activity}
        for name, table in parts.items():
            pq.write_table(table, folder / f"{name}.parquet")
        (folder / _SLAB).write_bytes(msgspec.json.encode(slab.figures))

    def end(self, slabs: int, peak_bytes: int = 0) -> None:
        """Mark the game day as complete."""
        self._write(msgspec.structs.replace(self.planned(), slabs=slabs, peak_bytes=peak_bytes))

    def planned(self) -> SavedDay:
        """Read the plan.

        Raises:
            NotKeptError: nothing was, here.
        """
        try:
            content = (self.folder / _PLAN).read_bytes()
        except FileNotFoundError as error:
            raise NotKeptError(f"{self.folder}: no {_PLAN}; run without --reuse first") from error
        return msgspec.json.decode(content, type=SavedDay)

    def policy(self) -> Policy:
        """Read the estate's policy, as a service would."""
        return parse_policy(self.policy_file.read_text(encoding="utf-8"), _POLICY)

    def slabs(self) -> Iterator[SavedSlab]:
        """Yield the slabs in their order.

        Raises:
            NotKeptError: the run that wrote them is incomplete, or another release wrote them.
        """
        count = self.planned().slabs
        if not count:
            raise NotKeptError(f"{self.folder}: the run is incomplete; run without --reuse again")
        for number in range(count):
            folder = self._slab(number)
            figures = msgspec.json.decode((folder / _SLAB).read_bytes(), type=SlabFigures)
            tables = {path.stem: pq.read_table(path) for path in sorted(folder.glob("*.parquet"))}
            changes, activity = tables.pop(_CHANGES), tables.pop(_ACTIVITY)
            if not activity.schema.equals(ACTIVITY_ARROW):
                raise NotKeptError(
                    f"{self.folder}: saved by another release; run without --reuse again"
                )
            yield SavedSlab(figures, changes, activity, tables)

    def _slab(self, number: int) -> Path:
        return self.folder / _SLABS / f"{number:04d}"

    def _write(self, planned: SavedDay) -> None:
        (self.folder / _PLAN).write_bytes(msgspec.json.encode(planned))
