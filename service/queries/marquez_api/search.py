"""Search for datasets and jobs by a part of their names, as Marquez answers it."""

import re
from datetime import date
from typing import Final, Literal

import msgspec

from lineage.catalog.queries import LISTED
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import convert_rows
from lineage.names.names import fold
from lineage.states import run_state
from service.queries.datasets import escape_like
from service.queries.marquez_api.ids import node_id_of
from service.queries.marquez_api.job_list import ListedJob, list_jobs
from service.queries.marquez_api.jobs import type_of
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.runs import newest_rows
from service.queries.marquez_api.shapes import Hit, Hits, SearchResult, SearchResults
from service.queries.timestamps import iso_of, parse_instant
from service.queries.visibility import Visibility, sql_filter

Sort = Literal["name", "updated_at"]
MOST_HITS: Final = 10  # as the search of `v2beta` answers
_ORDERS: dict[Sort, str] = {
    "name": "d.name, d.namespace",
    "updated_at": "d.last_seen_at DESC, d.name, d.namespace",
}
_DATASETS = f"""
SELECT d.namespace, d.name, d.last_seen_at AS updated_at FROM dataset d
WHERE {LISTED} AND {{seen}} AND {{alike}} {{more}} ORDER BY {{order}} LIMIT CAST(:limit AS BIGINT)
"""  # noqa: S608 - SQL of ours


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Search of a client.

    Attributes:
        query: a part of a name, in any case of its letters.
        namespace: exactly this one; any if none.
        before, after: days between which the newest event was.
    """

    query: str
    kind: Literal["dataset", "job"] | None = None
    sort: Sort = "name"
    limit: int = MOST_HITS
    namespace: str | None = None
    before: date | None = None
    after: date | None = None


class _Found(msgspec.Struct, frozen=True):
    namespace: str
    name: str
    updated_at: int


def search(reader: CatalogReader, visibility: Visibility, wanted: SearchQuery) -> SearchResults:
    """Return the datasets and jobs whose names have the query in them."""
    datasets = [] if wanted.kind == "job" else _find_datasets(reader, visibility, wanted)
    jobs, reason = (
        ([], None) if wanted.kind == "dataset" else _find_jobs(reader, visibility, wanted)
    )
    both = [(one, "DATASET") for one in datasets] + [(one, "JOB") for one in jobs]
    both.sort(key=lambda pair: _place(pair[0], wanted.sort))
    results = [
        _dataset_result(one) if kind == "DATASET" else _job_result(one)
        for one, kind in both[: wanted.limit]
    ]
    return SearchResults(
        total_count=len(results),
        results=results,
        partial=reason is not None,
        partial_reason=reason,
    )


def search_jobs(reader: CatalogReader, visibility: Visibility, query: str) -> Hits:
    """Return jobs as the search of `v2beta` does."""
    jobs, reason = _find_jobs(reader, visibility, SearchQuery(query=query))
    hits = [_job_hit(reader, job) for job in jobs[:MOST_HITS]]
    return _hits(hits, query, reason)


def search_datasets(reader: CatalogReader, visibility: Visibility, query: str) -> Hits:
    """Return datasets as the search of `v2beta` does."""
    found = _find_datasets(reader, visibility, SearchQuery(query=query))
    hits = [
        Hit(None, one.name, one.namespace, None, {}, dataset_namespace=one.namespace)
        for one in found
    ]
    return _hits(hits, query, None)


def _find_datasets(
    reader: CatalogReader, visibility: Visibility, wanted: SearchQuery
) -> list[_Found]:
    condition, names = sql_filter(reader, visibility)
    values: dict[str, str | int] = {**names, "like": f"%{escape_like(wanted.query)}%"}
    values["limit"] = wanted.limit
    more = ""
    if wanted.namespace is not None:
        more += " AND d.namespace = :namespace"
        values["namespace"] = fold(wanted.namespace, "any").namespace
    for bound, day, sign in (("before", wanted.before, "<"), ("after", wanted.after, ">")):
        if day is not None:
            more += f" AND d.last_seen_at {sign} :{bound}"
            values[bound] = _midnight(day)
    alike, order = reader.alike("d.name", ":like"), _ORDERS[wanted.sort]
    sql = _DATASETS.format(seen=condition, alike=alike, more=more, order=order)
    return convert_rows(_Found, reader.rows(sql, values))


def _find_jobs(
    reader: CatalogReader, visibility: Visibility, wanted: SearchQuery
) -> tuple[list[_Found], str | None]:
    listed = list_jobs(reader, visibility, wanted.namespace)
    part = wanted.query.lower()
    found = [
        _Found(job.namespace, job.name, job.last_event_at)
        for job in listed.jobs
        if part in job.name.lower() and _is_between(job, wanted)
    ]
    return sorted(found, key=lambda one: _place(one, wanted.sort))[: wanted.limit], listed.reason


def _is_between(job: ListedJob, wanted: SearchQuery) -> bool:
    return not (
        (wanted.before is not None and job.last_event_at >= _midnight(wanted.before))
        or (wanted.after is not None and job.last_event_at <= _midnight(wanted.after))
    )


def _midnight(day: date) -> int:
    return parse_instant(f"{day.isoformat()}T00:00:00Z", "before or after")


def _place(found: _Found, sort: Sort) -> tuple[int, str, str]:
    return (0 if sort == "name" else -found.updated_at, found.name, found.namespace)


def _dataset_result(found: _Found) -> SearchResult:
    node = node_id_of("dataset", found.namespace, found.name)
    updated_at = iso_of(found.updated_at)
    return SearchResult("DATASET", found.name, updated_at, found.namespace, node, found.namespace)


def _job_result(found: _Found) -> SearchResult:
    node = node_id_of("job", found.namespace, found.name)
    return SearchResult("JOB", found.name, iso_of(found.updated_at), found.namespace, node, None)


def _job_hit(reader: CatalogReader, job: _Found) -> Hit:
    (row,) = newest_rows(reader, job.namespace, job.name, PageRange(1, 0))
    # States of runs are named after the events that bring them.
    event_type = run_state(
        started_at=row.started_at, completed_at=row.completed_at, failed_at=row.failed_at
    )
    return Hit(row.run_id, job.name, job.namespace, event_type, {}, type_of(row.processing_type))


def _hits(hits: list[Hit], query: str, reason: str | None) -> Hits:
    return Hits(
        hits=hits,
        highlights=[{"name": [_highlight(hit.name, query)]} for hit in hits],
        partial=reason is not None,
        partial_reason=reason,
    )


def _highlight(name: str, query: str) -> str:
    return re.sub(re.escape(query), lambda found: f"<em>{found[0]}</em>", name, flags=re.IGNORECASE)
