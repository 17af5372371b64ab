"""Namespaces, sources and tags as Marquez has them."""

from lineage.catalog.queries import LISTED, is_listed
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.names.names import fold
from service.queries.marquez_api.ids import unknown_node
from service.queries.marquez_api.job_list import ListedJob, list_jobs
from service.queries.marquez_api.paging import LIMIT_AND_OFFSET, PageRange
from service.queries.marquez_api.shapes import (
    MarquezTag,
    Namespace,
    Namespaces,
    Source,
    Sources,
    Tags,
)
from service.queries.timestamps import iso_of
from service.queries.visibility import Visibility, sql_filter

_OF_DATASETS = f"""
SELECT d.namespace, MIN(d.first_seen_at) AS first_seen_at, MAX(d.last_seen_at) AS last_seen_at
FROM dataset d
WHERE {LISTED} AND {{seen}} {{more}} GROUP BY d.namespace ORDER BY d.namespace
"""  # noqa: S608 - SQL of ours
_ONE = "AND d.namespace = :namespace"
_TAGS_OF = f"""
SELECT t.tag FROM {{table}} t JOIN dataset d ON d.dataset_key = t.dataset_key
WHERE {is_listed()} AND {{{{seen}}}}
"""  # noqa: S608 - a constant
# UNION gives each tag once.
_TAGS = f"""
{" UNION ".join(_TAGS_OF.format(table=table) for table in ("tag", "field_tag"))}
ORDER BY tag {LIMIT_AND_OFFSET}
"""
_Span = tuple[int, int]  # first and last seen, µs


def namespaces_page(reader: CatalogReader, visibility: Visibility, page: PageRange) -> Namespaces:
    """Return a page of the namespaces of datasets and of jobs, by name."""
    listed = list_jobs(reader, visibility)
    rows = _of_datasets(reader, visibility)
    named = _namespaces(rows, listed.jobs)
    reason = listed.reason
    return Namespaces(namespaces=page.cut(named), partial=reason is not None, partial_reason=reason)


def namespace_of_name(reader: CatalogReader, visibility: Visibility, name: str) -> Namespace:
    """Return a namespace, also by another spelling of the same one.

    Raises:
        UnknownNodeError: there is none, or none in which the token may see anything.
    """
    rows = _of_datasets(reader, visibility, name)
    found = _namespaces(rows, list_jobs(reader, visibility, name).jobs)
    if not found:
        raise unknown_node("namespace", name)
    return found[0]


def sources_page(reader: CatalogReader, visibility: Visibility, page: PageRange) -> Sources:
    """Return a page of the namespaces of datasets, as where they lie."""
    rows = _of_datasets(reader, visibility)
    return Sources(sources=[_source(row) for row in page.cut(rows)])


def source_of_name(reader: CatalogReader, visibility: Visibility, name: str) -> Source:
    """Return a source.

    Raises:
        UnknownNodeError: there is none, or none in which the token may see anything.
    """
    for row in _of_datasets(reader, visibility, name):
        return _source(row)
    raise unknown_node("source", name)


def tags_page(reader: CatalogReader, visibility: Visibility, page: PageRange) -> Tags:
    """Return a page of the tags of datasets and of their columns, by name."""
    condition, names = sql_filter(reader, visibility)
    rows = reader.rows(_TAGS.format(seen=condition), names | page.values)
    return Tags(tags=[MarquezTag(tag) for (tag,) in rows])


def _of_datasets(
    reader: CatalogReader, visibility: Visibility, name: str | None = None
) -> list[Row]:
    condition, names = sql_filter(reader, visibility)
    if name is None:
        return reader.rows(_OF_DATASETS.format(seen=condition, more=""), names)
    wanted = names | {"namespace": fold(name, "any").namespace}
    return reader.rows(_OF_DATASETS.format(seen=condition, more=_ONE), wanted)


def _namespaces(datasets: list[Row], jobs: list[ListedJob]) -> list[Namespace]:
    spans: dict[str, _Span] = {
        row.namespace: (row.first_seen_at, row.last_seen_at) for row in datasets
    }
    of_datasets = set(spans)
    for job in jobs:
        first, last = spans.get(job.namespace, (job.first_event_at, job.last_event_at))
        begin, end = min(first, job.first_event_at), max(last, job.last_event_at)
        spans[job.namespace] = begin, end
    return [
        Namespace(
            name=name,
            created_at=iso_of(first),
            updated_at=iso_of(last),
            dataset_namespace=name if name in of_datasets else None,
        )
        for name, (first, last) in sorted(spans.items())
    ]


def _source(row: Row) -> Source:
    name = row.namespace
    scheme, is_url, _ = name.partition("://")
    return Source(
        type=scheme.upper() if is_url else "UNKNOWN",
        name=name,
        created_at=iso_of(row.first_seen_at),
        updated_at=iso_of(row.last_seen_at),
        connection_url=name,
        dataset_namespace=name,
    )
