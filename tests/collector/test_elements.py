"""Elements of a batch with an event that is not JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.elements import elements_of

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(_VALUES), st.booleans())
def test_elements_of_valid_json_are_those_of_json(values, is_ascii):
    """Split strings with any content."""
    found = elements_of(json.dumps(values, ensure_ascii=is_ascii).encode())

    assert found is not None
    assert [json.loads(one) for one in found] == values


@pytest.mark.parametrize(
    "odd",
    [
        b'{"a": "\\ud800"}',
        b'"\\udc00\\ud800"',
        b"NaN",
        b'"\n, ] }"',
        b'"\\x, ["',
        b'"\\""',
        b"",
        b"[" * 1_500 + b"]" * 1_500,
        b'{"a": }',
        b"\xff",
    ],
)
def test_an_element_that_is_no_json_is_one_element(odd):
    """Split its neighbours correctly."""
    assert elements_of(b" [1 , " + odd + b',{"b":[2]}]\n') == [b"1", odd, b'{"b":[2]}']


@pytest.mark.parametrize(
    "body", [b"", b"1", b'{"a": [1]}', b"[1", b'["1]', b"[1]]", b"[1] 2", b"[[1]", b"]["]
)
def test_a_text_that_is_no_array_is_none(body):
    """Return None for an array that is cut or has text behind it."""
    assert elements_of(body) is None


@pytest.mark.parametrize("body", [b"[]", b" [ ] "])
def test_an_empty_array_has_no_elements(body):
    """Return an empty list, and not one empty element."""
    assert elements_of(body) == []
