"""Write patterns and names as YAML."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lineage.policy.patterns import Pattern, PatternParts, pattern_of_both, pattern_yaml, quote_yaml


@given(st.text())
def test_any_text_is_read_back(text):
    """Keep it apart from a comment behind it, whatever it holds."""
    assert yaml.safe_load(f"- {quote_yaml(text)}  # a comment") == [text]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Bestände", '"Bestände"'),
        ('say "yes"\n', r'"say \"yes\"\n"'),
        ("a\u202eb\u2028", r'"a\U0000202eb\U00002028"'),
    ],
)
def test_text_is_shown_as_it_is_except_what_cannot_be_seen(text, written):
    """Escape a mark that turns the text around, and a line separator."""
    assert quote_yaml(text) == written


@pytest.mark.parametrize(
    ("dataset", "pattern", "written"),
    [
        (("s3://lake", "orders"), "s3://lake/orders", '"s3://lake/orders"'),
        (
            ("a/b", "c"),
            PatternParts("a/b", "c"),
            '{namespace: "a/b", name: "c"}',
        ),
    ],
)
def test_an_ambiguous_name_is_written_in_two_parts(dataset, pattern: Pattern, written):
    """Join namespace and name only where the text can be split again."""
    assert pattern_of_both(*dataset) == pattern
    assert pattern_yaml(pattern) == written
