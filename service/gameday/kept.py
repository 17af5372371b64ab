"""A game day in a folder: what was planned, and what the evaluation found, slab by slab.

`--reuse` begins here: whoever changes how incidents are made runs them again in seconds.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from lineage.policy import Policy, parse
from runbooks.gameday.estate import Shape
from runbooks.gameday.faults import Day
from runbooks.gameday.policy import text_of
from runbooks.gameday.truth import Truth
from service.errors import RejectedInputError

_CHANGES, _ACTIVITY = "changes", "activity"
_PLAN, _POLICY, _SLABS, _SLAB = "plan.json", "lineward.yaml", "slabs", "slab.json"


class NotKeptError(RejectedInputError):
    """The folder holds no whole game day; the message says what is missing."""


class Planned(msgspec.Struct, frozen=True):
    """What was asked for, and what came of it.

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
    """One slab, and what it took.

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


class KeptSlab(msgspec.Struct, frozen=True):
    """What the walk is given of a slab: see `slis.replay.slab.Judged`."""

    figures: SlabFigures
    changes: pa.Table
    activity: pa.Table
    tables: dict[str, pa.Table]


class Kept:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def policy_file(self) -> Path:
        """The estate's policy."""
        return self.folder / _POLICY

    def begin(self, shape: Shape, day: Day, policy: Policy) -> None:
        """Write down what is to be done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.policy_file.write_text(text_of(policy), encoding="utf-8")
        self._write(Planned(shape, len(day.truth.faults), day.truth))

    def add(self, number: int, slab: KeptSlab) -> None:
        """Write down what one slab came to."""
        folder = self._slab(number)
        folder.mkdir(parents=True, exist_ok=True)
        saved = slab.tables | {_CHANGES: slab.changes, _ACTIVITY: slab.activity}
        for name, table in saved.items():
            pq.write_table(table, folder / f"{name}.parquet")
        (folder / _SLAB).write_bytes(msgspec.json.encode(slab.figures))

    def end(self, slabs: int, peak_bytes: int = 0) -> None:
        """All is there."""
        self._write(msgspec.structs.replace(self.planned(), slabs=slabs, peak_bytes=peak_bytes))

    def planned(self) -> Planned:
        """Return the saved plan.

        Raises:
            NotKeptError: nothing was, here.
        """
        try:
            saved = (self.folder / _PLAN).read_bytes()
        except FileNotFoundError as error:
            raise NotKeptError(f"{self.folder}: no {_PLAN}; run without --reuse first") from error
        return msgspec.json.decode(saved, type=Planned)

    def policy(self) -> Policy:
        """Return the policy of the simulated environment, parsed as the service does it."""
        return parse(self.policy_file.read_text(encoding="utf-8"), _POLICY)

    def slabs(self) -> Iterator[KeptSlab]:
        """In their order.

        Raises:
            NotKeptError: the run that wrote them did not come to its end.
        """
        count = self.planned().slabs
        if not count:
            raise NotKeptError(f"{self.folder}: the run is incomplete; run without --reuse again")
        for number in range(count):
            folder = self._slab(number)
            figures = msgspec.json.decode((folder / _SLAB).read_bytes(), type=SlabFigures)
            tables = {path.stem: pq.read_table(path) for path in sorted(folder.glob("*.parquet"))}
            changes, activity = tables.pop(_CHANGES), tables.pop(_ACTIVITY)
            yield KeptSlab(figures, changes, activity, tables)

    def _slab(self, number: int) -> Path:
        return self.folder / _SLABS / f"{number:04d}"

    def _write(self, planned: Planned) -> None:
        (self.folder / _PLAN).write_bytes(msgspec.json.encode(planned))
