"""The first half of a game day: from a seed to what changes of each dataset's state, and when."""

import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from runbooks.gameday.estate import Shape, make
from runbooks.gameday.faults import plan
from runbooks.gameday.history import Slab, slabs
from runbooks.gameday.model import DAY
from runbooks.gameday.policy import policy_of
from runbooks.gameday.truth import KINDS, Kind, Truth
from service.gameday.collected import Collected
from service.gameday.kept import Kept, KeptSlab, SlabFigures
from slis.bench_evaluate import peak_bytes
from slis.replay.arrivals import Arrivals
from slis.replay.slab import Replay
from slis.settings import Place

Progress = Callable[[SlabFigures], None]


def replay(  # noqa: PLR0913 - what a game day is asked for, by name
    spark: SparkSession,
    folder: Path,
    shape: Shape,
    faults: int,
    *,
    kinds: tuple[Kind, ...] = KINDS,
    progress: Progress = lambda _: None,
) -> Kept:
    """Replay the history of an estate through collector, stream and evaluation.

    Args:
        spark: the session.
        folder: an empty one, for the catalog, the spool and what is found.
        shape: of the estate.
        faults: how many are done to it.
        kinds: of them.
        progress: is told of each slab.

    Raises:
        ValueError: there is no room for so many faults in such an estate.
    """
    estate = make(shape)
    day = plan(estate, faults, kinds)
    kept = Kept(folder)
    policy = policy_of(estate, day.suppressions)
    kept.begin(shape, day, policy)
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    try:
        place = Place(data_dir=folder)
        course = _Course(Replay(spark, engine, place, kept.policy()), Collected(place.spool), kept)
        course.begin(day.truth)
        for slab in slabs(estate, day.injected):
            progress(course.go(slab))
        kept.end(course.count, peak_bytes(spark))
    finally:
        engine.dispose()
    return kept


class _Course:
    def __init__(self, replay: Replay, collected: Collected, kept: Kept) -> None:
        self._replay = replay
        self._collected = collected
        self._kept = kept
        self._asked_at = time.monotonic()
        self._judged_from = 0
        self.count = 0

    def begin(self, truth: Truth) -> None:
        self._replay.begin(truth.starts_at)
        # A day before anything is done, so that what is well is known to have been.
        self._judged_from = truth.judged_from - DAY
        self._asked_at = time.monotonic()

    def go(self, slab: Slab) -> SlabFigures:
        """One slab through all of it."""
        seconds = {"history": self._lap()}
        taken = self._collected.take(slab)
        arrivals = Arrivals(slab.events)
        seconds["collected"] = self._lap()
        teaches_only = slab.ends_at <= self._judged_from
        judged = self._replay.slab(
            slab.starts_at, slab.ends_at, arrivals, teaches_only=teaches_only
        )
        seconds |= judged.seconds
        self._lap()
        figures = SlabFigures(slab.starts_at, slab.ends_at, taken, slab.lost, slab.is_deaf, seconds)
        kept = KeptSlab(figures, judged.changes, judged.activity, judged.tables)
        self._kept.add(self.count, kept)
        self.count += 1
        return figures

    def _lap(self) -> float:
        now = time.monotonic()
        seconds, self._asked_at = now - self._asked_at, now
        return round(seconds, 3)
