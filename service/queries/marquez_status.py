"""Exchange with a Marquez: forwarded, pulled and missing runs."""

from datetime import datetime

import msgspec

from lineage.catalog.queries import CURSOR
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import convert_rows, pairs_of
from lineage.process.clock import to_micros
from service.ingest.collector_spool import count_unforwarded, read_waiting
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso_of, seconds_between
from service.runtime.settings import Settings

_MOST_LISTED = 20
_SET_ASIDE = "set_aside:"
_LISTED = """
SELECT spool_seq, run, reason, detail, set_aside_at FROM marquez_set_aside
ORDER BY spool_seq DESC LIMIT :most
"""
_PROBE = """
SELECT at, is_answered, seconds, status, detail FROM marquez_probe ORDER BY at DESC LIMIT 1
"""
_COMPARISON = """
SELECT at, sampled_ours, missing_there, sampled_theirs, missing_here FROM marquez_comparison
ORDER BY at DESC LIMIT 1
"""
_MISSING = """
SELECT side, run_id, job_namespace, job_name FROM marquez_missing_run
ORDER BY side, job_namespace, job_name, run_id LIMIT :most
"""


class UnforwardedEvent(msgspec.Struct, frozen=True):
    """Event that Marquez did not accept."""

    spool_seq: int
    run: str
    reason: str
    detail: str
    set_aside_at: IsoTime


class ForwardingStatus(msgspec.Struct, frozen=True):
    """Progress of forwarding to Marquez; null where it never began."""

    cursor: int
    waiting_events: int | None  # null without a spool beside us
    forwarded: int
    set_aside: dict[str, int]  # by reason
    unforwarded: int  # left a full spool before their turn
    last_set_aside: list[UnforwardedEvent]


class PullStatus(msgspec.Struct, frozen=True):
    """Progress of reading from Marquez, by the producers' time."""

    url: str
    started_at: IsoTime
    through: IsoTime
    age_seconds: float | None


class ProbeStatus(msgspec.Struct, frozen=True):
    """Last probe of Marquez."""

    at: IsoTime
    age_seconds: float | None
    is_answered: bool
    seconds: float | None
    status: int | None
    detail: str


class MissingRun(msgspec.Struct, frozen=True):
    """Run of one side that is missing on the other: `there` (Marquez) or `here`."""

    side: str
    run_id: str
    job_namespace: str
    job_name: str


class ComparisonStatus(msgspec.Struct, frozen=True):
    """Last comparison of a sample of runs."""

    at: IsoTime
    age_seconds: float | None
    sampled_ours: int
    missing_there: int
    sampled_theirs: int
    missing_here: int
    examples: list[MissingRun]


class MarquezStatus(msgspec.Struct, frozen=True):
    """Answer of `lineward marquez status`; what never happened is null."""

    url: str | None
    forwarding: ForwardingStatus | None
    pulled: int
    pull_rejected: int = msgspec.field(name="pull_refused")
    pulling: list[PullStatus]
    probe: ProbeStatus | None
    comparison: ComparisonStatus | None
    # Runs of ours that Marquez rejected.
    compare_rejected: int = msgspec.field(name="compare_refused")


def marquez_status(reader: CatalogReader, settings: Settings, now: datetime) -> MarquezStatus:
    """Return the status by the catalog and the spool.

    Raises:
        NoCatalogError: there is no catalog.
    """
    counts = pairs_of(reader.rows("SELECT name, value FROM marquez_counter"))
    at = to_micros(now)
    pulls = reader.rows("SELECT url, started_at, through FROM marquez_pull ORDER BY url")
    return MarquezStatus(
        url=settings.marquez_url,
        forwarding=_forwarding(reader, settings, counts),
        pulled=counts.get("pulled", 0),
        pull_rejected=counts.get("pull_refused", 0),
        pulling=[
            PullStatus(
                row.url,
                iso_of(row.started_at),
                iso_of(row.through),
                seconds_between(row.through, at),
            )
            for row in pulls
        ],
        probe=_probe(reader, at),
        comparison=_comparison(reader, at),
        compare_rejected=counts.get("compare_refused", 0),
    )


def _forwarding(
    reader: CatalogReader, settings: Settings, counts: dict[str, int]
) -> ForwardingStatus | None:
    cursors = reader.rows(CURSOR, {"reader": "marquez"})
    if not cursors:
        return None
    cursor = cursors[0][0]
    reasons = {
        name.removeprefix(_SET_ASIDE): count
        for name, count in sorted(counts.items())
        if name.startswith(_SET_ASIDE)
    }
    listed = reader.rows(_LISTED, {"most": _MOST_LISTED})
    return ForwardingStatus(
        cursor=cursor,
        waiting_events=read_waiting(settings.spool, cursor),
        forwarded=counts.get("forwarded", 0),
        set_aside=reasons,
        unforwarded=count_unforwarded(settings.spool),
        last_set_aside=[
            UnforwardedEvent(
                row.spool_seq, row.run, row.reason, row.detail, iso_of(row.set_aside_at)
            )
            for row in listed
        ],
    )


def _probe(reader: CatalogReader, now: int) -> ProbeStatus | None:
    for row in reader.rows(_PROBE):
        return ProbeStatus(
            at=iso_of(row.at),
            age_seconds=seconds_between(row.at, now),
            is_answered=bool(row.is_answered),
            seconds=row.seconds,
            status=row.status,
            detail=row.detail,
        )
    return None


def _comparison(reader: CatalogReader, now: int) -> ComparisonStatus | None:
    for row in reader.rows(_COMPARISON):
        missing = reader.rows(_MISSING, {"most": _MOST_LISTED})
        return ComparisonStatus(
            at=iso_of(row.at),
            age_seconds=seconds_between(row.at, now),
            sampled_ours=row.sampled_ours,
            missing_there=row.missing_there,
            sampled_theirs=row.sampled_theirs,
            missing_here=row.missing_here,
            examples=convert_rows(MissingRun, missing),
        )
    return None
