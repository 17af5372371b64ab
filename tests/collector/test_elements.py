"""A batch with an event that is no JSON is taken apart all the same."""

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
def test_what_json_is_gives_the_elements_of_json(values, is_ascii):
    """Whatever is in its strings."""
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
    """Its neighbours are theirs."""
    assert elements_of(b" [1 , " + odd + b',{"b":[2]}]\n') == [b"1", odd, b'{"b":[2]}']


@pytest.mark.parametrize(
    "body", [b"", b"1", b'{"a": [1]}', b"[1", b'["1]', b"[1]]", b"[1] 2", b"[[1]", b"]["]
)
def test_what_is_no_array_is_none(body):
    """Cut, or with something behind it, it is not guessed where an event ends."""
    assert elements_of(body) is None


@pytest.mark.parametrize("body", [b"[]", b" [ ] "])
def test_an_array_of_nothing_has_no_elements(body):
    """Not one that is empty."""
    assert elements_of(body) == []
