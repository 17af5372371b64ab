"""A game day that was replayed, walked and scored."""

import resource
import shutil
import tempfile
import time
from pathlib import Path

import msgspec

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from runbooks.gameday import scorer
from runbooks.gameday.received import Heard
from runbooks.gameday.scores import Score
from service.gameday.beside import naive, unknown_spells
from service.gameday.kept import Kept
from service.gameday.walk import Told, walk


class Judgement(msgspec.Struct, frozen=True):
    """The score, and what does not stand in it.

    Attributes:
        score: as `--json` prints it.
        unknown_seconds: in unknown outside ingestion faults.
        false_pages: each of them.
        false_tickets: tickets for nothing that was done.
    """

    score: Score
    unknown_seconds: float
    false_pages: list[Heard]
    false_tickets: list[Heard]


def judge(kept: Kept, *, began: float | None = None) -> Judgement:
    """Walk what was kept through the incident step, and score what people were told.

    Args:
        kept: of a whole game day.
        began: by the monotonic clock, when what is timed did; none: now.

    Raises:
        NotKeptError: the folder holds no whole game day.
    """
    began = time.monotonic() if began is None else began
    told = walked(kept)
    planned = kept.planned()
    truth, own = planned.truth, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    score = scorer.score(
        truth,
        told.heard,
        naive(kept.slabs()),
        told.resolve,
        wall_seconds=time.monotonic() - began,
        peak_rss_bytes=max(planned.peak_bytes, own),
    )
    return Judgement(
        score,
        scorer.unknown_seconds(truth, unknown_spells(kept.slabs())),
        scorer.false_pages(truth, told.heard),
        scorer.false_tickets(truth, told.heard),
    )


def walked(kept: Kept) -> Told:
    """What people were told, in a catalog that is deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lineward-gameday-"))
    engine = open_catalog(catalog_url(folder))
    try:
        migrate(engine)
        return walk(engine, kept.policy(), kept.slabs())
    finally:
        engine.dispose()
        shutil.rmtree(folder)
