"""Inputs of the outputs of a connector."""

from slis.stream.derived.connectors import match_by_endings


def _pair_names(inputs: str, outputs: str) -> list[tuple[str, str]]:
    sources, sinks = (dict(enumerate(names.split())) for names in (inputs, outputs))
    return [(sources[up], sinks[down]) for up, down in match_by_endings(sources, sinks)]


def test_a_topic_derives_from_the_table_of_its_name():
    """Compare the last parts; the schema distinguishes two tables of one name."""
    assert _pair_names("db.a.orders db.b.orders db.a.Users", "shop.b.orders shop.a.users") == [
        ("db.b.orders", "shop.b.orders"),
        ("db.a.Users", "shop.a.users"),
    ]


def test_a_topic_without_a_schema_derives_from_all_tables_of_its_name():
    assert _pair_names("db.a.orders db.b.orders db.a.users", "topics/orders") == [
        ("db.a.orders", "topics/orders"),
        ("db.b.orders", "topics/orders"),
    ]


def test_a_topic_of_another_name_may_derive_from_every_table():
    """Keep tables unmatched without a like name: routing may rename topics."""
    assert _pair_names("db.a.x db.a.y", "events") == [("db.a.x", "events"), ("db.a.y", "events")]
