"""Test results of datasets, from the facet into the catalog."""

import json
from typing import Any

import pytest

from slis.stream.facets.assertions import assertions_of
from tests.slis.stream.spools import rows, run_event

_KEPT = """
    SELECT d.name, a.assertion, a.column_name, a.last_passed_at / 3600000000 % 24,
        a.last_failed_at / 3600000000 % 24, a.severity, a.expected, a.actual
    FROM dataset_assertion a JOIN dataset d ON d.dataset_key = a.dataset_key ORDER BY 1, 2, 3
"""


def _test_event(at, *results: dict[str, Any], facets=None, run="r1"):
    event = run_event("COMPLETE", at, run=run, inputs=[("t", facets or {})])
    event["inputs"][0]["inputFacets"] = {"dataQualityAssertions": {"assertions": list(results)}}
    return event


_PASSED = {"assertion": "unique", "column": "id", "success": True}
_FAILED = {**_PASSED, "success": False, "severity": "error", "expected": "0", "actual": "3"}


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("is_reversed", [False, True], ids=["in order", "newest first"])
def test_each_assertion_has_its_last_success_and_last_failure(lander, catalog, at, is_reversed):
    """Keep the texts of the newest failure, in any order of results."""
    events = [
        _test_event(at(8), {**_FAILED, "actual": "9"}, run="r1"),
        _test_event(at(9), _PASSED, {"assertion": "row_count", "success": True}, run="r2"),
        _test_event(at(10), _FAILED, run="r3"),
    ]
    for event in reversed(events) if is_reversed else events:
        lander.land(event)

    assert rows(catalog, _KEPT) == [
        ("t", "row_count", "", 9, None, None, None, None),
        ("t", "unique", "id", 9, 10, "error", "0", "3"),
    ]


def test_the_facet_is_taken_from_the_dataset_too_and_beside_the_same_facets(lander, catalog, at):
    """Store two results beside one schema as two results and one description."""
    schema = {"schema": {"fields": [{"name": "id", "type": "long"}]}}
    own = {"dataQualityAssertions": {"assertions": [{"assertion": "fresh", "success": False}]}}
    lander.land(
        _test_event(at(8), _PASSED, facets=schema),
        _test_event(at(9), _FAILED, facets=schema),
        run_event("COMPLETE", at(10), run="r4", outputs=[("u", own)]),
    )

    assert rows(catalog, "SELECT first_seen_at < last_seen_at FROM schema_version") == [(True,)]
    assert [row[:5] for row in rows(catalog, _KEPT)] == [
        ("t", "unique", "id", 8, 9),
        ("u", "fresh", "", None, 10),
    ]


@pytest.mark.parametrize("raw", ["{", "5", "null", '[{"assertion": "x"}]', '["x"]', "[" * 5_000])
def test_an_invalid_list_of_assertions_is_left_out(raw):
    """Store nothing for a list that is invalid."""
    assert assertions_of(raw) == ()


def test_one_odd_assertion_does_not_hide_the_others():
    """Read the list entry by entry, up to a bound."""
    raw = [{"success": "maybe"}, *({"assertion": f"a{n}", "success": True} for n in range(300))]

    found = assertions_of(json.dumps(raw))

    assert [result[0] for result in found] == [f"a{n}" for n in range(199)]
