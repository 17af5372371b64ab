"""Transformations of column edges: as facets have them, and as the newest event has them."""

import itertools
import json

import pytest
from sqlalchemy import select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.stream.facets.column_edges import (
    COLUMN_EDGE,
    merge_column_edges,
    of_whole_field,
    transformations_of,
)
from slis.stream.facts.dataset_facets import ColumnLineageFacet
from slis.stream.names.rekey import move_facts
from slis.stream.staging import staging
from tests.lineage.catalog.test_retention import put_dataset

_COLUMNS = [*COLUMN_EDGE.split(), "first_seen_at", "last_seen_at"]
_SUM = '[{"type":"DIRECT","subtype":"AGGREGATION"}]'
_COPY = '[{"type":"DIRECT","subtype":"IDENTITY"}]'


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        (None, None),
        ("[]", None),
        ("{not json", None),
        ('"text"', None),
        ('[{"type": "", "masking": false}]', None),
        ('[{"type": "DIRECT", "subtype": "AGGREGATION", "masking": false}]', _SUM),
        ('[7, {"type": "DIRECT"}]', '[{"type":"DIRECT"}]'),
        ('[{"masking": "true"}]', '[{"masking":true}]'),
    ],
)
def test_facets_are_stored_in_one_shape(raw, stored):
    """Drop empty values; a malformed entry leaves the others as they are."""
    assert transformations_of(raw) == stored


def test_texts_are_bounded_and_a_secret_at_the_cut_is_redacted():
    """Store at most 20 of them; redact the description before the cut."""
    long = "x" * 480 + " password=hunter2SECRETCANARY"
    raw = json.dumps([{"description": long, "type": "T" * 300}] * 30)

    found = json.loads(transformations_of(raw))

    assert len(found) == 20
    assert (len(found[0]["type"]), len(found[0]["description"]) <= 500) == (100, True)
    assert "hunter" not in found[0]["description"]


def test_an_older_facet_describes_the_whole_field():
    """Read the single type and description of older facets."""
    older = ColumnLineageFacet([], "MASKED", "hashed")

    assert of_whole_field(older) == '[{"type":"MASKED","description":"hashed"}]'
    assert of_whole_field(ColumnLineageFacet()) is None


def _merge(catalog, *rows: tuple):
    with write_transaction(catalog) as connection:
        staging.create(connection)
        staging.fill(connection, {"s_column_edge": (_COLUMNS, list(rows))})
        merge_column_edges(connection)


def _read_stored(catalog) -> list[tuple]:
    named = [tables.column_edge.c[name] for name in _COLUMNS]
    with catalog.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(select(*named)))


_SEEN = [
    (1, "a", 2, "b", None, 1, 1),
    (1, "a", 2, "b", _COPY, 5, 5),
    (1, "a", 2, "b", _SUM, 5, 9),
    (3, "a", 2, "b", _COPY, 2, 9),  # by another name of the dataset; of two, the greater text
]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("split", [1, 2, 4])
def test_the_newest_event_sets_the_transformation(catalogs, split):
    """Store it in any order of events and any split into batches."""
    results = set()
    for order in list(itertools.permutations(_SEEN))[:: 4 * split]:
        catalog = catalogs()
        for key, canonical in ((1, 1), (2, 2), (3, 1)):
            put_dataset(catalog, key, 0, canonical_key=canonical)
        for start in range(0, len(order), split):
            _merge(catalog, *order[start : start + split])
        results.add(tuple(_read_stored(catalog)))

    assert results == {((1, "a", 2, "b", _COPY, 1, 9),)}


@pytest.mark.postgres_nightly
def test_an_edge_that_moves_to_another_name_keeps_its_newest_transformations(catalog):
    """Move dataset 3 to dataset 1, upstream of one edge and downstream of another."""
    for key in (1, 2, 3):
        put_dataset(catalog, key, 0)
    _merge(
        catalog,
        (1, "a", 2, "b", _COPY, 1, 4),
        (3, "a", 2, "b", _SUM, 2, 9),
        (2, "b", 3, "c", _SUM, 2, 2),
    )

    with write_transaction(catalog) as connection:
        staging.create(connection)
        move_facts(connection, [3], 1)

    assert _read_stored(catalog) == [(1, "a", 2, "b", _SUM, 1, 9), (2, "b", 1, "c", _SUM, 2, 2)]
