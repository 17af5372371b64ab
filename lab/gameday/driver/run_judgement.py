"""Walk and score of a game day that was replayed."""

import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lab.gameday import scorer
from lab.gameday.driver.baseline import baseline, unknown_spells
from lab.gameday.driver.incident_walk import WalkResult, walk
from lab.gameday.driver.saved_run import SavedRun, SavedSlab
from lab.gameday.driver.state_changes import OnDays
from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.model import DAY
from lab.gameday.score_shapes import Score
from lineage.catalog.engine import catalog_url, migrate, open_catalog


class Judgement(msgspec.Struct, frozen=True):
    """Score, and results beside it.

    Attributes:
        score: as `--json` prints it.
        unknown_seconds: in unknown outside ingestion faults.
        false_pages: each of them.
        false_tickets: tickets for nothing that was done.
    """

    score: Score
    unknown_seconds: float
    false_pages: list[ReceivedMessage]
    false_tickets: list[ReceivedMessage]


def judge_run(
    kept: SavedRun, *, began: float | None = None, on_days: OnDays = lambda _: None
) -> Judgement:
    """Walk what was kept through the incident step, and score the notifications.

    Args:
        kept: of a whole game day.
        began: by the monotonic clock, when what is timed did; none: now.
        on_days: called with how many days are walked.

    Raises:
        NotKeptError: the folder holds no whole game day.
    """
    began = time.monotonic() if began is None else began
    found = walk_changes(kept, on_days)
    planned = kept.planned()
    truth, own = planned.truth, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    score = scorer.score(
        truth,
        found.messages,
        baseline(kept.slabs()),
        found.resolve,
        wall_seconds=time.monotonic() - began,
        peak_rss_bytes=max(planned.peak_bytes, own),
    )
    return Judgement(
        score,
        scorer.unknown_seconds(truth, unknown_spells(kept.slabs())),
        scorer.false_pages(truth, found.messages),
        scorer.false_tickets(truth, found.messages),
    )


def walk_changes(kept: SavedRun, on_days: OnDays = lambda _: None) -> WalkResult:
    """Return the notifications, by a catalog that is deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lineward-gameday-"))
    engine = open_catalog(catalog_url(folder))
    try:
        migrate(engine)
        return walk(engine, kept.policy(), _counted(kept, on_days))
    finally:
        engine.dispose()
        shutil.rmtree(folder)


def _counted(kept: SavedRun, on_days: OnDays) -> Iterator[SavedSlab]:
    begins = kept.planned().truth.starts_at
    for slab in kept.slabs():
        yield slab
        on_days((slab.figures.ends_at - begins) / DAY)
