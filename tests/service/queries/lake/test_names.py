"""Words that lead from the name of a dataset to the events that name it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names.keys import shorten
from lineage.names.names import fold
from lineage.policy import DEFAULT, parse_policy
from service.queries.lake.names import words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lake/silver/orders", ("orders",)),
        ("warehouse.public.line_items", ("line_items",)),
        ("a_long_folder/b", ("a_long_folder",)),
        ("käse-orders", ("orders",)),
        ("a/b", ()),
        ("日本", ()),
        ("folder/[redacted]", ("folder",)),
        (shorten("x/" + "y" * 3_000, 2_048), ("y" * 100,)),
    ],
)
def test_the_last_part_with_a_word_leads_to_a_name(name, words):
    """Choose the longest word of the last part that has one; none: read all events."""
    assert words_of([("n", name)], DEFAULT) == words


def test_every_name_of_a_dataset_has_a_word():
    """Choose a word for each name; read all events where one name has none."""
    assert words_of([("n", "orders"), ("hive", "db.ord")], DEFAULT) == ("ord", "orders")
    assert words_of([("n", "orders"), ("hive", "日本")], DEFAULT) == ()


def test_names_that_the_policy_leads_to_a_dataset_are_searched_too():
    """Choose words of folds and aliases too."""
    policy = parse_policy(
        "folds:\n"
        '  - {match: "s3://lake/exports/run_{n}", dataset: "s3://lake/exports/all"}\n'
        "aliases:\n"
        '  - {name: "s3://lake/copies/old_all", dataset: "s3://lake/exports/all"}\n'
    )

    assert words_of([("s3://lake", "exports/all")], policy) == ("all", "exports", "old_all")


_PART = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@given(st.sampled_from(["s3a://b", "file", "postgresql://h/db"]), st.lists(_PART, min_size=1))
def test_each_event_that_names_a_dataset_has_one_of_its_words(namespace, parts):
    """Find the event in any spelling of the name, and with any escapes in its JSON."""
    spelt = "/".join(parts)
    folded = fold(namespace, spelt)

    words = words_of([(folded.namespace, folded.name)], DEFAULT)

    body = json.dumps({"namespace": namespace, "name": spelt})
    assert not words or any(word in body for word in words)
