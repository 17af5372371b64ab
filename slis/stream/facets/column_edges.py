"""Column edges with their transformations: the `columnLineage` facet, and rows in the catalog."""

from functools import lru_cache

import msgspec
from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.catalog.upsert import ColumnFold, at_the_later, greatest, least, upsert
from lineage.redaction import redact
from slis.stream.facts.dataset_facets import ColumnLineageFacet
from slis.stream.staging.arrow import clean_text

_MOST = 20  # transformations of one edge
_LONGEST = 500  # characters of a description, which may be an expression of SQL
_LONGEST_WORD = 100
_CACHED = 4_096

COLUMN_EDGE = "upstream_key upstream_field downstream_key downstream_field transformations"
COLUMN_EDGE_FOLDS: dict[str, ColumnFold] = {
    "transformations": at_the_later("last_seen_at", ties=greatest),
    "first_seen_at": least,
    "last_seen_at": greatest,
}


class _Transformation(msgspec.Struct, frozen=True, omit_defaults=True):
    type: str | None = None
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None


@lru_cache(_CACHED)
def transformations_of(raw: str | None) -> str | None:
    """Return the JSON to store for the `transformations` of an input field, which are raw JSON.

    None where the list is missing, empty or malformed. A malformed entry is left out.
    """
    try:
        listed = msgspec.json.decode(raw or "[]", type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return None
    return _stored([found for one in listed[:_MOST] if (found := _read(one))])


def of_whole_field(lineage: ColumnLineageFacet) -> str | None:
    """Return the same for an older facet, which describes the transformation of the whole field."""
    return _of_texts(lineage.transformation_type, lineage.transformation_description)


@lru_cache(_CACHED)
def _of_texts(kind: str | None, description: str | None) -> str | None:
    return _stored([_bounded(_Transformation(kind, description=description))])


def _read(raw: msgspec.Raw) -> _Transformation | None:
    try:
        return _bounded(msgspec.json.decode(raw, type=_Transformation, strict=False))
    except (msgspec.DecodeError, RecursionError):
        return None


def _bounded(given: _Transformation) -> _Transformation:
    """Redact before the cut: a secret at the cut would stay."""
    return _Transformation(
        _cut(given.type, _LONGEST_WORD),
        _cut(given.subtype, _LONGEST_WORD),
        _cut(given.description, _LONGEST),
        given.masking or None,
    )


def _cut(text: str | None, most: int) -> str | None:
    return redact(clean_text(text) or "")[:most] or None


def _stored(found: list[_Transformation]) -> str | None:
    known = [one for one in found if one != _Transformation()]
    return msgspec.json.encode(known).decode() if known else None


# The upstream may be known by its column alone, and then is its own canonical dataset.
_EDGES = """
    SELECT upstream_key, upstream_field, downstream_key, downstream_field, first_seen_at,
        last_seen_at, transformations FROM (
        SELECT coalesce(u.canonical_key, s.upstream_key) AS upstream_key, s.upstream_field,
            d.canonical_key AS downstream_key, s.downstream_field, s.last_seen_at,
            s.transformations, min(s.first_seen_at) OVER edge AS first_seen_at,
            row_number() OVER (edge ORDER BY s.last_seen_at DESC,
                coalesce(s.transformations, '') DESC) AS place
        FROM s_column_edge s JOIN dataset d ON d.dataset_key = s.downstream_key
        LEFT JOIN dataset u ON u.dataset_key = s.upstream_key
        WINDOW edge AS (PARTITION BY coalesce(u.canonical_key, s.upstream_key), s.upstream_field,
            d.canonical_key, s.downstream_field)
    ) AS seen WHERE place = 1
"""


def merge_column_edges(connection: Connection) -> None:
    """Merge column edges, each with the transformations of the newest event that names it."""
    upsert(connection, tables.column_edge, _EDGES, COLUMN_EDGE_FOLDS)
