"""Datasets as Marquez has them."""

from lineage.catalog.queries import LISTED, newest_schema, newest_write
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.names.names import fold
from service.api.access.visibility import Visibility
from service.queries.dataset_lookup import Dataset as DatasetKey
from service.queries.dataset_lookup import find_among
from service.queries.marquez_api.identifiers import version_id
from service.queries.marquez_api.namespaces import namespace_of_name
from service.queries.marquez_api.paging import (
    LIMIT_AND_OFFSET,
    PageRange,
    capped_total,
    count_up_to,
)
from service.queries.marquez_api.shapes import Dataset, Datasets
from service.queries.marquez_fields import Sayings
from service.queries.node_ids import unknown
from service.queries.visible import sql_filter

_OF_DATASET = "w.dataset_key = d.dataset_key"
_DETAILS = f"""
SELECT d.dataset_key, d.namespace, d.name, d.first_seen_at, d.last_seen_at,
  (SELECT a.last_written_at FROM dataset_activity a WHERE a.dataset_key = d.dataset_key)
    AS last_written_at,
  ({newest_schema("d.dataset_key")}) AS fields,
  ({newest_write("written_at", _OF_DATASET)}) AS version_at,
  ({newest_write("root_run_id", _OF_DATASET)}) AS root_run_id
FROM dataset d WHERE d.dataset_key IN (:keys) ORDER BY d.name
"""  # noqa: S608 - SQL of ours
_IN_NAMESPACE = f"FROM dataset d WHERE d.namespace = :namespace AND {LISTED} AND {{seen}}"
_KEYS = f"SELECT d.dataset_key {_IN_NAMESPACE} ORDER BY d.name {LIMIT_AND_OFFSET}"
_EVERY = f"SELECT 1 AS one {_IN_NAMESPACE}"


def datasets_page(
    reader: CatalogReader, visibility: Visibility, namespace: str, page: PageRange
) -> Datasets:
    """Return a page of a namespace's datasets, by name.

    Raises:
        UnknownNodeError: the namespace has nothing that the token may see.
    """
    condition, names = sql_filter(reader, visibility)
    values = names | {"namespace": fold(namespace, "any").namespace}
    found = reader.rows(count_up_to(_EVERY.format(seen=condition)), values)[0][0]
    if not found:
        namespace_of_name(reader, visibility, namespace)
    total, reason = capped_total(found, "datasets")
    keys = [row[0] for row in reader.rows(_KEYS.format(seen=condition), values | page.values)]
    return Datasets(
        datasets=_datasets(reader, keys, visibility),
        total_count=total,
        partial=reason is not None,
        partial_reason=reason,
    )


def dataset_of_name(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str
) -> Dataset:
    """Return a dataset, by any of its names.

    Raises:
        UnknownNodeError: there is none that the token may see.
    """
    key, _, _ = find_dataset(reader, visibility, namespace, name)
    return _datasets(reader, [key], visibility)[0]


def find_dataset(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str
) -> DatasetKey:
    """Return key and names of a dataset, by any of its names.

    Raises:
        UnknownNodeError: there is none that the token may see.
    """
    found = find_among(reader, [(namespace, name)], visibility)
    if found is None:
        raise unknown("dataset", name)
    return found


def _datasets(reader: CatalogReader, keys: list[int], visibility: Visibility) -> list[Dataset]:
    sayings = Sayings(reader, keys, visibility)
    return [_dataset(row, sayings) for row in rows_for(reader, _DETAILS, keys)]


def _dataset(row: Row, sayings: Sayings) -> Dataset:
    version = None if row.version_at is None else version_id(row.version_at, row.root_run_id)
    return Dataset(**sayings.dataset(row), current_version=version)
