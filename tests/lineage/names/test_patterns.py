import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names.patterns import is_variable, pattern_of, stable_name, tighten
from tests.lineage.patterned import PATTERNED


@pytest.mark.parametrize(("name", "pattern"), PATTERNED)
def test_variable_parts_are_replaced(name: str, pattern: str):
    """Replace dates, hashes, ids and numbers; keep words."""
    assert pattern_of(name) == pattern
    assert is_variable(pattern) == (name != pattern)


@given(st.text(st.sampled_from("ab0129-_./TZ"), max_size=40))
def test_any_name_has_a_pattern_that_matches_it(name: str):
    """Keep all characters but the variable ones, for any name."""
    assert tighten(pattern_of(name), [name]) == name


def test_a_part_common_to_all_names_is_kept():
    """Keep the 2 of `orders2`, and replace the date."""
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
def test_the_common_name_has_no_variable_parts(pattern: str, name: str):
    """Drop what tied the parts together too; nothing is left of a date alone."""
    assert stable_name(pattern) == name
