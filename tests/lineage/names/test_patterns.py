import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names.patterns import expression_of, is_variable, pattern_of, stable_name, tighten
from tests.lineage.patterned import PATTERNED


@pytest.mark.parametrize(("name", "pattern"), PATTERNED)
def test_what_changes_is_taken_out_of_a_name(name: str, pattern: str):
    """Dates, hashes, ids and numbers; words stay."""
    assert pattern_of(name) == pattern
    assert is_variable(pattern) == (name != pattern)


@pytest.mark.parametrize(("name", "pattern"), PATTERNED)
def test_a_folding_rule_can_be_made_of_a_pattern(name: str, pattern: str):
    """Its expression matches the name that the pattern came from."""
    assert re.fullmatch(expression_of(pattern), name, re.ASCII)


@given(st.text(st.sampled_from("ab0129-_./TZ"), max_size=40))
def test_any_name_has_a_pattern_that_matches_it(name: str):
    """Whatever a name is made of, nothing but what changes is lost."""
    pattern = pattern_of(name)

    assert re.fullmatch(expression_of(pattern), name, re.ASCII)


def test_a_part_that_is_the_same_in_all_names_is_no_part_that_changes():
    """The 2 of `orders2` belongs to the name, the date does not."""
    names = [f"lake/orders2_202611{day}" for day in (20, 21)]

    assert tighten("lake/orders{n}_{date}", names) == "lake/orders2_{date}"


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("lake/orders_{date}", "lake/orders"),
        ("/x/run-{uuid}/out", "/x/run/out"),
        ("events.{n}.csv", "events/csv"),
        ("lake/orders", "lake/orders"),
        ("{date}", ""),
        ("{date}/{n}", ""),
    ],
)
def test_what_is_left_without_the_changing_parts_is_the_name_of_all(pattern: str, name: str):
    """Drop what tied the parts together too; nothing is left of a date alone."""
    assert stable_name(pattern) == name
