"""Advice on runs that the catalog has deleted."""

from typing import Final

import msgspec

from lineage.catalog.meta_keys import RUNS_KEPT_SINCE
from lineage.catalog.reader import CatalogReader
from service.queries.timestamps import iso_of

LAKE_BEGINS: Final = "SELECT min(event_date) FROM lake_folder WHERE deleted_at IS NULL"
_KEPT_SINCE: Final = f"SELECT value FROM meta WHERE name = '{RUNS_KEPT_SINCE}'"  # noqa: S608 - a constant
_DAY: Final = len("2026-11-27")


class OlderRuns(msgspec.Struct, frozen=True):
    """Place of older runs.

    Attributes:
        catalog_since: runs that ended before this time were deleted from the catalog.
        lake_begins: first day of which the lake holds events; null where that is no earlier.
    """

    catalog_since: str
    lake_begins: str | None


def older_runs(reader: CatalogReader) -> OlderRuns | None:
    """Return where older runs are; null while retention has deleted none."""
    rows = reader.rows(_KEPT_SINCE)
    if not rows:
        return None
    since = iso_of(int(rows[0][0]))
    [[begins]] = reader.rows(LAKE_BEGINS)
    return OlderRuns(since, begins if begins and begins <= since[:_DAY] else None)


def where_older_runs_are(older: OlderRuns | None) -> str:
    """Return since when the catalog has runs, and what to ask for older ones; may be empty."""
    if older is None:
        return ""
    kept = f"the catalog keeps runs since {older.catalog_since}"
    if older.lake_begins is None:
        return kept
    return (
        f"{kept}, and the lake keeps events since {older.lake_begins}: ask for older runs by"
        " `lineward lake dataset DATASET --from DAY --to DAY`"
    )


def older_runs_advice(reader: CatalogReader, run_id: str) -> str:
    """Return what to do about a run that may be older than the catalog; empty while none is."""
    older = older_runs(reader)
    if older is None:
        return ""
    kept = f". The catalog keeps runs since {older.catalog_since}"
    if older.lake_begins is None:
        return kept
    shown = run_id[:80]
    return (
        f"{kept}, and the lake keeps events since {older.lake_begins}: ask for an older run by"
        f" `lineward lake run {shown}` or GET /api/v1/lake/runs/{shown}"
    )
