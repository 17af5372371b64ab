"""Columns of a dataset: by their names, with their types, sources and uses."""

import difflib
from collections.abc import Sequence
from typing import Final

import msgspec

from lineage.catalog.queries import newest_schema
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.names.names import Name
from service.errors import AmbiguousDatasetError, UnknownColumnError, UnknownDatasetError
from service.queries.column_shapes import ColumnEnd, ColumnRow, DatasetColumns, Transformation
from service.queries.dataset_lookup import KnownDataset, resolve_dataset
from service.queries.descriptions import (
    MOST_FIELD_TAGS,
    NO_DESCRIPTIONS,
    describe_datasets,
    tags_of_fields,
)
from service.queries.schema_changes import fields_of
from service.queries.timestamps import iso
from service.queries.visibility import EVERYTHING, UNSEEN, Visibility
from service.queries.walk import all_named, names_of

MOST_LISTED_COLUMNS: Final = 1_000
_MOST_ENDS = 5_000  # of one answer and direction
_MOST_CANDIDATES = 5
_MOST_NAMES = 10_000
# Types and subtypes of transformations in OpenLineage's specification.
_KINDS = frozenset(
    (
        *("DIRECT", "INDIRECT", "IDENTITY", "TRANSFORMATION", "AGGREGATION", "MASKED", "JOIN"),
        *("GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"),
    )
)
_MOST_DOTS = 3  # in a column's name, of a field in a struct; and each costs a search
# From name to name by the index: a column that feeds thousands is looked at once.
_NAMES = """
WITH RECURSIVE found(field) AS (
  SELECT min({end}_field) FROM column_edge WHERE {end}_key = :key
  UNION ALL
  SELECT (SELECT min(e.{end}_field) FROM column_edge e
    WHERE e.{end}_key = :key AND e.{end}_field > found.field)
  FROM found WHERE found.field IS NOT NULL
)
SELECT field FROM found WHERE field IS NOT NULL LIMIT :most
"""
_ENDS = """
SELECT {here}_field AS here_field, {other}_key AS other_key, {other}_field AS other_field,
  transformations, first_seen_at, last_seen_at
FROM column_edge WHERE {here}_key = :key AND {here}_field IN (:keys)
ORDER BY 1, 2, 3 LIMIT :most
"""
_Found = tuple[dict[str, list[ColumnEnd]], dict[str, int], bool]


def dataset_columns(
    reader: CatalogReader,
    named: KnownDataset,
    visibility: Visibility = EVERYTHING,
    *,
    limit: int = MOST_LISTED_COLUMNS,
) -> DatasetColumns:
    """Return at most `limit` columns with the columns that feed them and that they feed."""
    key, namespace, name = named
    types = types_of(reader, key)
    names = list(types)[:limit]
    sources = _ends(reader, key, names, ("downstream", "upstream"), visibility)
    uses = _ends(reader, key, names, ("upstream", "downstream"), visibility)
    described = describe_datasets(reader, [key], visibility).get(key, NO_DESCRIPTIONS).fields
    tags = tags_of_fields(reader, [key], visibility)
    rows = [
        ColumnRow(
            *(one, types[one], sources[0].get(one, []), uses[0].get(one, [])),
            *(sources[1].get(one, 0), uses[1].get(one, 0)),
            *(described.get(one), tags.get((key, one), [])),
        )
        for one in names
    ]
    cuts = [f"{len(names):,} of {len(types):,} columns"] if len(names) < len(types) else []
    if sources[2] or uses[2]:
        cuts.append(f"at most {_MOST_ENDS:,} sources and {_MOST_ENDS:,} uses")
    if sum(map(len, tags.values())) >= MOST_FIELD_TAGS:
        cuts.append(f"at most {MOST_FIELD_TAGS:,} tags of columns")
    cuts += [UNSEEN] if sources[1] or uses[1] else []
    return DatasetColumns(namespace, name, rows, bool(cuts), "; ".join(cuts) or None)


def types_of(reader: CatalogReader, key: int) -> dict[str, str | None]:
    """Return the type of each column of a dataset; null of one that column lineage alone names."""
    schema = reader.rows(newest_schema(":key"), {"key": key})
    types = {field.name: field.type for row in schema for field in fields_of(row[0])}
    for end in ("downstream", "upstream"):
        sql, values = _NAMES.replace("{end}", end), {"key": key, "most": _MOST_NAMES}
        types |= {field: None for (field,) in reader.rows(sql, values) if field not in types}
    return types


def column_type(reader: CatalogReader, named: KnownDataset, column: str) -> str | None:
    """Return the type of a column of this dataset.

    Raises:
        UnknownColumnError: the dataset has no column of this name.
    """
    types = types_of(reader, named[0])
    if column not in types:
        close = difflib.get_close_matches(column, types, n=_MOST_CANDIDATES, cutoff=0.5)
        raise UnknownColumnError(named[2], column, close or list(types)[:_MOST_CANDIDATES])
    return types[column]


def dataset_or_column_named(
    reader: CatalogReader,
    wanted: str,
    namespace: str | None = None,
    visibility: Visibility = EVERYTHING,
) -> tuple[KnownDataset, str | None]:
    """Return the dataset that is meant, and its column where the name ends with one.

    Names of datasets contain dots themselves: the longest name that is a dataset wins.

    Raises:
        UnknownDatasetError: no part of the name is a dataset, or several datasets have it.
        UnknownColumnError: a part of it is a dataset that has no such column.
    """
    unknown: list[UnknownDatasetError] = []
    for name, column in _splits(wanted):
        try:
            named = resolve_dataset(reader, name, namespace, visibility)
            if column is not None:
                column_type(reader, named, column)
        except AmbiguousDatasetError:
            raise
        except UnknownDatasetError as error:
            unknown.append(error)
        else:
            return named, column
    raise next((one for one in unknown if isinstance(one, UnknownColumnError)), unknown[0])


def _splits(wanted: str) -> list[tuple[str, str | None]]:
    """Return the whole name, then the name cut at each of its last dots, the last one first."""
    dots = [at for at, letter in enumerate(wanted) if letter == "." and 0 < at < len(wanted) - 1]
    cuts = [(wanted[:at], wanted[at + 1 :]) for at in reversed(dots[-_MOST_DOTS:])]
    return [(wanted, None), *cuts]


def stored_transformations(stored: str | None, visibility: Visibility) -> list[Transformation]:
    """Return the transformations of an edge as the catalog stores them.

    A description, or a type that is no word of OpenLineage's, may name any dataset: only a token
    that may see all of them gets it.
    """
    found = msgspec.json.decode(stored, type=list[Transformation]) if stored else []
    return found if visibility.is_whole else [_without_texts(one) for one in found]


def _without_texts(given: Transformation) -> Transformation:
    kind = given.type if given.type in _KINDS else None
    subtype = given.subtype if given.subtype in _KINDS else None
    return Transformation(kind, subtype, None, given.masking)


def describe_transformation(given: Transformation) -> str:
    """Return a transformation in words: `direct aggregation (sum(amount)), masked`."""
    kind = " ".join(word.lower() for word in (given.type, given.subtype) if word)
    more = f" ({given.description})" if given.description else ""
    return f"{kind}{more}{', masked' if given.masking else ''}".strip()


def _ends(
    reader: CatalogReader,
    key: int,
    names: Sequence[str],
    ends: tuple[str, str],
    visibility: Visibility,
) -> _Found:
    """Return the other ends by column, how many are hidden, and whether more exist."""
    sql = _ENDS.replace("{here}", ends[0]).replace("{other}", ends[1])
    rows = rows_for(reader, sql, names, {"key": key, "most": _MOST_ENDS + 1})
    known = names_of(reader, {row.other_key for row in rows})
    found: dict[str, list[ColumnEnd]] = {}
    hidden: dict[str, int] = {}
    for row in rows[:_MOST_ENDS]:
        other, name = row.other_key, known.get(row.other_key)
        if visibility.is_whole or (name is not None and visibility.sees(name[0], other)):
            found.setdefault(row.here_field, []).append(_end(row, name, visibility))
        else:
            hidden[row.here_field] = hidden.get(row.here_field, 0) + 1
    return found, hidden, len(rows) > _MOST_ENDS


def _end(row: Row, name: Name | None, visibility: Visibility) -> ColumnEnd:
    ((namespace, dataset),) = all_named([row.other_key], [name])
    how = stored_transformations(row.transformations, visibility)
    seen_at = iso(row.first_seen_at), iso(row.last_seen_at)
    return ColumnEnd(namespace, dataset, row.other_field, how, *seen_at)
