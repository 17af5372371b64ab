"""Descriptions, tags and columns of datasets in Marquez's shape."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from service.queries.descriptions import NO_DESCRIPTIONS, describe_datasets, tags_of_fields
from service.queries.marquez_api.lineage_shapes import FieldData, NodeName
from service.queries.schema_changes import fields_of
from service.queries.timestamps import iso, iso_of
from service.queries.visibility import Visibility

_TAGS = "SELECT DISTINCT dataset_key, tag FROM tag WHERE dataset_key IN (:keys) ORDER BY tag"


class DatasetDetails:
    """Descriptions, tags and columns of some datasets."""

    def __init__(self, reader: CatalogReader, keys: Sequence[int], visibility: Visibility) -> None:
        """Read it for the datasets with these keys."""
        self._described = describe_datasets(reader, keys, visibility)
        self._field_tags = tags_of_fields(reader, keys, visibility)
        self._tags: defaultdict[int, list[str]] = defaultdict(list)
        for key, tag in rows_for(reader, _TAGS, keys):
            self._tags[key].append(tag)

    def tags(self, dataset: int) -> list[str]:
        """Return the names of the tags of a dataset."""
        return self._tags[dataset]

    def description(self, dataset: int) -> str | None:
        """Return the description of a dataset."""
        return self._described.get(dataset, NO_DESCRIPTIONS).description

    def fields(self, dataset: int, schema: str | None) -> list[FieldData]:
        """Return the columns of a stored schema of a dataset."""
        texts = self._described.get(dataset, NO_DESCRIPTIONS).fields
        return [
            FieldData(
                field.name, field.type, self._names(dataset, field.name), texts.get(field.name)
            )
            for field in fields_of(schema)
        ]

    def dataset(self, row: Row) -> dict[str, Any]:
        """Return the fields of `DatasetData`.

        Args:
            row: `dataset_key`, `namespace`, `name`, `first_seen_at`, `last_seen_at`,
                `last_written_at`, and `fields` of the newest schema.
        """
        key = row.dataset_key
        return {
            "id": NodeName(row.namespace, row.name),
            **dict.fromkeys(("name", "physical_name", "dataset"), row.name),
            **dict.fromkeys(("namespace", "source_name", "dataset_namespace"), row.namespace),
            "created_at": iso_of(row.first_seen_at),
            "updated_at": iso_of(row.last_seen_at),
            "last_modified_at": iso(row.last_written_at),
            "fields": self.fields(key, row.fields),
            "tags": self.tags(key),
            "description": self.description(key),
        }

    def _names(self, dataset: int, field: str) -> list[str]:
        return list(dict.fromkeys(tag.key for tag in self._field_tags.get((dataset, field), [])))
