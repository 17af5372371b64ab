"""Docstrings say what the code returns, yields and raises."""

from pathlib import Path

import pytest

from tests.suite.docstring_claims import Claims, find_unknown_errors, read_claims

_ROOT = Path(__file__).parents[2]
_TOPS = sorted(each.parent.name for each in _ROOT.glob("*/__init__.py"))


@pytest.fixture(scope="module")
def modules() -> list[Claims]:
    """Return what the product's modules claim. Each worker imports this file: it reads none."""
    return [
        read_claims(file.relative_to(_ROOT).as_posix(), file.read_text(encoding="utf-8"))
        for top in _TOPS
        if top != "tests"
        for file in sorted((_ROOT / top).rglob("*.py"))
    ]


def test_each_error_of_a_docstring_can_come_from_there(modules):
    assert list(find_unknown_errors(modules)) == []


def test_no_docstring_promises_a_result_that_its_function_lacks(modules):
    assert [f"{each.path}:{line}: {claim}" for each in modules for line, claim in each.wrong] == []


_LIMITS = '''
class BodyTimeoutError(Exception):
    """Error."""
'''
_BODIES = """
from collector.limits import BodyTimeoutError
from urllib.error import HTTPError
"""


@pytest.mark.parametrize(
    ("error", "is_known"),
    [
        ("BodyTimeoutError", True),
        ("collector.limits.BodyTimeoutError", True),
        ("ValueError", True),
        ("HTTPError", True),
        ("sqlite3.Error", True),
        ("TooSlowError", False),
        ("sqlite3.NoSuchError", False),
        ("FarError", False),
    ],
)
def test_an_error_is_looked_up_in_what_a_file_imports(error, is_known):
    raises = f"Raises:\n        {error}: too slow,\n            or not: so."
    text = f'def read():\n    """Read.\n\n    {raises}\n    """\n'
    modules = [
        read_claims("collector/limits.py", _LIMITS),
        read_claims("collector/bodies.py", _BODIES),
        read_claims("collector/reading.py", f"import collector.bodies\n{text}"),
        read_claims("lab/far.py", "class FarError(Exception): ..."),
    ]
    expected = [] if is_known else [f"collector/reading.py:2: {error}"]
    assert list(find_unknown_errors(modules)) == expected


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        ('def store() -> None:\n    """Return the rows."""', ["store: returns nothing"]),
        ('def check() -> None:\n    """Return if it is whole."""', []),
        (
            'def rows() -> list[int]:\n    """Yield the rows."""\n    return []',
            ["rows: yields nothing"],
        ),
        ('def rows() -> Iterator[int]:\n    """Yield the rows."""\n    return each()', []),
        ('def rows():\n    """Yield the rows."""\n    yield 1', []),
        (
            'def rows():\n    """Yield the rows."""\n    def own():\n        yield 1',
            ["rows: yields nothing"],
        ),
    ],
)
def test_a_result_is_compared_with_the_function(function, claim):
    assert [each for _, each in read_claims("lab/rows.py", function).wrong] == claim
