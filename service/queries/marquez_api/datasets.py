"""Datasets as Marquez has them, and their versions: each write makes one."""

import msgspec

from lineage.catalog.queries import LISTED, NEWEST_WRITE_FIRST, newest_schema, newest_write
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, convert_rows
from lineage.names.names import fold
from service.queries.dataset_lookup import KnownDataset as DatasetKey
from service.queries.dataset_lookup import find_among
from service.queries.marquez_api.dataset_details import DatasetDetails
from service.queries.marquez_api.ids import schema_id, unknown_node, version_id, written_at_of
from service.queries.marquez_api.namespaces import namespace_of_name
from service.queries.marquez_api.paging import (
    LIMIT_AND_OFFSET,
    PageRange,
    capped_total,
    count_up_to,
)
from service.queries.marquez_api.runs import runs_of_keys
from service.queries.marquez_api.shapes import (
    Datasets,
    DatasetVersion,
    DatasetVersions,
    MarquezDataset,
    MarquezRun,
    VersionId,
)
from service.queries.timestamps import iso_of
from service.queries.visibility import Visibility, sql_filter

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

# The run of the root that began last before the write: an application may have thousands of runs.
_WRITER = """
SELECT r.run_key FROM run r
JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
JOIN dataset d ON d.dataset_key = io.dataset_key AND d.canonical_key = w.dataset_key
WHERE r.root_run_id = w.root_run_id AND (r.started_at IS NULL OR r.started_at <= w.written_at)
ORDER BY r.started_at DESC LIMIT 1
"""
_VERSIONS = f"""
SELECT w.written_at, w.root_run_id, w.schema_key, (
  SELECT s.fields FROM schema_version s
  WHERE s.dataset_key = w.dataset_key AND s.schema_key = w.schema_key) AS fields,
  ({_WRITER}) AS run_key
"""  # noqa: S608 - SQL of ours
PAGE = f"""
{_VERSIONS} FROM (
  SELECT * FROM dataset_write w
  WHERE w.dataset_key = :key {NEWEST_WRITE_FIRST} {LIMIT_AND_OFFSET}
) AS w {NEWEST_WRITE_FIRST}
"""  # noqa: S608 - SQL of ours
AT = f"""
{_VERSIONS} FROM dataset_write w
WHERE w.dataset_key = :key AND w.written_at = :written_at LIMIT 1000
"""
_EVERY_WRITE = "SELECT 1 AS one FROM dataset_write WHERE dataset_key = :key"


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
) -> MarquezDataset:
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
        raise unknown_node("dataset", name)
    return found


def _datasets(
    reader: CatalogReader, keys: list[int], visibility: Visibility
) -> list[MarquezDataset]:
    details = DatasetDetails(reader, keys, visibility)
    return [_dataset(row, details) for row in rows_for(reader, _DETAILS, keys)]


def _dataset(row: Row, details: DatasetDetails) -> MarquezDataset:
    version = None if row.version_at is None else version_id(row.version_at, row.root_run_id)
    return MarquezDataset(**details.dataset(row), current_version=version)


class _Write(msgspec.Struct, frozen=True):
    written_at: int
    root_run_id: str
    schema_key: int | None
    fields: str | None
    run_key: int | None


def versions_page(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str, page: PageRange
) -> DatasetVersions:
    """Return a page of a dataset's versions, newest first.

    Raises:
        UnknownNodeError: there is no such dataset that the token may see.
    """
    dataset = find_dataset(reader, visibility, namespace, name)
    values = {"key": dataset[0]}
    found = reader.rows(count_up_to(_EVERY_WRITE), values)[0][0]
    total, reason = capped_total(found, "versions")
    rows = reader.rows(PAGE, values | page.values)
    versions, cut = _versions(reader, visibility, dataset, convert_rows(_Write, rows))
    reason = reason or cut
    return DatasetVersions(
        versions=versions, total_count=total, partial=reason is not None, partial_reason=reason
    )


def version_of_id(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str, version: str
) -> DatasetVersion:
    """Return one version of a dataset.

    Raises:
        UnknownNodeError: there is no such dataset that the token may see, or no such version.
    """
    dataset = find_dataset(reader, visibility, namespace, name)
    written_at = written_at_of(version)
    if written_at is not None:
        values = {"key": dataset[0], "written_at": written_at}
        rows = convert_rows(_Write, reader.rows(AT, values))
        wanted = version.lower()
        found = [row for row in rows if version_id(row.written_at, row.root_run_id) == wanted]
        if found:
            return _versions(reader, visibility, dataset, found[:1])[0][0]
    raise unknown_node("dataset version", version)


def _versions(
    reader: CatalogReader, visibility: Visibility, dataset: DatasetKey, writes: list[_Write]
) -> tuple[list[DatasetVersion], str | None]:
    keys = [write.run_key for write in writes if write.run_key is not None]
    runs, reason = runs_of_keys(reader, keys, visibility)
    details = DatasetDetails(reader, [dataset[0]], visibility)
    versions = [_version(dataset, write, details, runs.get(write.run_key or 0)) for write in writes]
    return versions, reason


def _version(
    dataset: DatasetKey, write: _Write, details: DatasetDetails, run: MarquezRun | None
) -> DatasetVersion:
    key, namespace, name = dataset
    version = version_id(write.written_at, write.root_run_id)
    schema = None if write.schema_key is None else schema_id(write.schema_key)
    return DatasetVersion(
        id=VersionId(namespace, name, version, namespace),
        name=name,
        physical_name=name,
        created_at=iso_of(write.written_at),
        version=version,
        namespace=namespace,
        source_name=namespace,
        fields=details.fields(key, write.fields),
        tags=details.tags(key),
        description=details.description(key),
        current_schema_version=schema,
        created_by_run=run,
    )
