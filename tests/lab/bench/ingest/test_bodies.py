"""Bodies of the benchmark: valid events, in the shapes and sizes that producers send."""

import json

import pytest

from collector.events import parse_event
from collector.settings import Limits
from lab.bench.ingest import bodies

LOADS = [bodies.MIX, *bodies.SIZES]


def _sizes(name):
    return sorted(body.size for body in bodies.load(name))


@pytest.mark.parametrize("name", LOADS)
def test_each_body_is_an_event_without_repeated_keys(name):
    """Send nothing that the collector rejects."""
    for body in set(bodies.load(name)):
        raw = body.event(42)
        event = parse_event(raw, Limits())
        assert (event.kind in {"run", "job"}, event.duplicate_keys) == (True, 0)
        assert len(raw) == body.size


@pytest.mark.parametrize("name", LOADS)
def test_each_event_of_a_body_is_another(name):
    """Differ in the number, as a repeat would not be stored."""
    for body in set(bodies.load(name)):
        assert body.event(1) != body.event(2)


@pytest.mark.parametrize(("name", "least", "most"), [("1 kB", 800, 1_200), ("4 kB", 3_400, 5_000)])
def test_a_size_is_what_its_name_says(name, least, most):
    (size,) = _sizes(name)
    assert least < size < most


@pytest.mark.parametrize(("name", "least", "most"), [("21 kB", 20, 22), ("100 kB", 95, 105)])
def test_a_large_size_is_what_its_name_says(name, least, most):
    (size,) = _sizes(name)
    assert least < size / 1_000 < most


def test_the_mix_has_small_and_large_events():
    """Have a few that are much larger than most, as producers do."""
    sizes = _sizes(bodies.MIX)

    assert len(sizes) == 100
    assert sizes[0] < 1_000
    assert 3_000 < sizes[50] < 6_000
    assert 5_000 < sum(sizes) / 100 < 8_000
    assert sizes[-1] > 100_000


def test_the_mix_has_wide_tables_with_column_lineage():
    """Have up to 300 columns, and events without a table."""
    events = [json.loads(body.event(0)) for body in bodies.load(bodies.MIX)]
    outputs = [output["facets"] for event in events for output in event.get("outputs", ())]
    lineage = [len(one["columnLineage"]["fields"]) for one in outputs if "columnLineage" in one]

    assert max(lineage) == 300
    assert any(not event.get("inputs") and not event.get("outputs") for event in events)


def test_python_s_clients_write_spaces_and_the_others_do_not():
    """Have both, as only one of them is what the decoded value gives when encoded again."""
    raw = [body.event(0) for body in bodies.load(bodies.MIX)]

    assert {b'": "' in each for each in raw if b"integration/dbt" in each} == {True}
    assert {b'": "' in each for each in raw if b"integration/spark" in each} == {False}
