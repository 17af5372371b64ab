"""Path of an offset in a JSON text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.json_text import path_at

TEXT = b'{"a": {"b": [1, {"c,]": "x}\\"y"}, 3]}, "d": 4}'


@pytest.mark.parametrize(
    ("mark", "path"),
    [
        (b"1", "$.a.b[0]"),
        (b'"x}', "$.a.b[1].c,]"),
        (b"3", "$.a.b[2]"),
        (b"4", "$.d"),
        (b"{", "$"),
    ],
)
def test_the_path_leads_to_the_value_that_holds_the_offset(mark, path):
    """Treat brackets, colons and commas inside strings as text."""
    assert path_at(TEXT, TEXT.index(mark)) == path


@pytest.mark.parametrize(
    ("text", "path"),
    [(b"", "$"), (b'{"a": [1, ', "$.a[1]"), (b"]}", "$"), (b'{"a', "$"), (b'{"a": "x\\"', "$.a")],
)
def test_malformed_text_has_a_path_too(text, path):
    """Return what was open where the text ends or closes too much."""
    assert path_at(text, len(text) + 5) == path


_keys = st.text(st.sampled_from("abc{}[]:,"), min_size=1, max_size=4)
_steps = st.lists(_keys | st.integers(0, 3), max_size=6)


@given(_steps)
def test_every_path_is_found_again(steps):
    """Build a text around a path, and get the path of the mark at its end."""
    value, path = "@", ""
    for step in reversed(steps):
        value = {"z": 0, step: value} if isinstance(step, str) else [0] * step + [value]
        path = (f".{step}" if isinstance(step, str) else f"[{step}]") + path
    text = json.dumps(value).encode()

    assert path_at(text, text.index(b'"@"')) == f"${path}"


@given(st.binary(max_size=200), st.integers(0, 250))
def test_any_bytes_have_a_path(text, offset):
    """Return a path for any bytes, as the code runs for each rejection."""
    assert path_at(text, offset).startswith("$")
