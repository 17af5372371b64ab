"""List of datasets: filters, one page, and addresses of the pages around it."""

import msgspec

from lineage.states import TIERS
from service.explorer.addresses import datasets_at
from service.queries.catalog_session import CatalogSession
from service.queries.datasets import SHOWN_STATES, Filters, ListPart, list_datasets
from service.queries.shapes import DatasetPage

PER_PAGE = 100


class Choice(msgspec.Struct, frozen=True):
    """Values of one filter."""

    name: str
    values: tuple[str, ...]
    chosen: str | None


class DatasetListing(msgspec.Struct, frozen=True):
    """Page of the list."""

    filters: Filters
    choices: list[Choice]
    page: DatasetPage
    first: int  # number of the first row shown, from 1; 0: no rows
    before: str | None  # addresses
    after: str | None
    evaluated_at: str | None
    stale: bool


def load_list(asked: CatalogSession, filters: Filters, offset: int) -> DatasetListing:
    """Load one page of the list, most severe first."""
    part = ListPart(limit=PER_PAGE, offset=offset)
    page = list_datasets(asked.reader, filters, asked.evaluated, part, asked.visibility)
    return DatasetListing(
        filters=filters,
        choices=_choices(filters),
        page=page,
        first=offset + 1 if page.datasets else 0,
        before=_at(filters, max(0, offset - PER_PAGE)) if offset else None,
        after=None if page.next_cursor is None else _at(filters, offset + len(page.datasets)),
        evaluated_at=asked.evaluated.at,
        stale=asked.evaluated.stale,
    )


def _choices(filters: Filters) -> list[Choice]:
    """Return the choices of each filter; owners are too many for a list."""
    return [Choice("state", SHOWN_STATES, filters.state), Choice("tier", TIERS, filters.tier)]


def _at(filters: Filters, offset: int) -> str:
    return datasets_at(
        find=filters.contains,
        state=filters.state,
        tier=filters.tier,
        owner=filters.owner,
        offset=offset,
    )
