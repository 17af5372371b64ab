"""First half of a game day: from a seed to each dataset's changes of state."""

import time
from collections.abc import Callable, Iterable

from pyspark.sql import SparkSession

from lab.bench.evaluate import peak_bytes
from lab.gameday.driver.reception import CollectedSpool
from lab.gameday.driver.saved_run import SavedRun, SavedSlab, SlabFigures
from lab.gameday.history import Slab, slabs
from lab.gameday.injected import Injected
from lab.gameday.model import DAY, Estate
from lab.gameday.truth_shapes import Truth
from lab.replay.arrivals import Arrivals
from lab.replay.slab import SlabReplay
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from slis.settings import SharedPaths

OnDays = Callable[[float], None]


def replay_history(
    spark: SparkSession,
    kept: SavedRun,
    estate: Estate,
    injected: Iterable[Injected],
    on_days: OnDays = lambda _: None,
) -> None:
    """Replay the history of an estate through collector, stream and evaluation.

    Args:
        spark: the session.
        kept: where it was begun, and what is found is written down; with the catalog and the spool.
        estate: as it truly is.
        injected: what is done to it.
        on_days: called with how many days are done.
    """
    folder = kept.folder
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    try:
        place = SharedPaths(data_dir=folder)
        course = _Course(
            SlabReplay(spark, engine, place, kept.policy()), CollectedSpool(place.spool), kept
        )
        truth = kept.planned().truth
        course.begin(truth)
        for slab in slabs(estate, injected):
            course.go(slab)
            on_days((slab.ends_at - truth.starts_at) / DAY)
        kept.end(course.count, peak_bytes(spark))
    finally:
        engine.dispose()


class _Course:
    def __init__(self, replay: SlabReplay, collected: CollectedSpool, kept: SavedRun) -> None:
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

    def go(self, slab: Slab) -> None:
        """Replay one slab through all steps."""
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
        kept = SavedSlab(figures, judged.changes, judged.activity, judged.tables)
        self._kept.add(self.count, kept)
        self.count += 1

    def _lap(self) -> float:
        now = time.monotonic()
        seconds, self._asked_at = now - self._asked_at, now
        return round(seconds, 3)
