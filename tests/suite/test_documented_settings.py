"""Settings and their tables in `docs/`."""

import re
from pathlib import Path

from tests.suite.variables import setting_variables

_ROW = re.compile(r"(?m)^\| (`LINEWARD_[^|]*) \|")
_VARIABLE = re.compile(r"LINEWARD_[A-Z_]+[A-Z]\b")


def _list_documented(pages: list[Path]) -> set[str]:
    rows = [row for page in pages for row in _ROW.findall(page.read_text("utf-8"))]
    return {variable for row in rows for variable in _VARIABLE.findall(row)}


def test_each_setting_has_a_row_in_a_table():
    """Reject a setting without a row in the docs.

    Mutant: without the row of `LINEWARD_PIPELINE_POLL_SECONDS` the set contains this variable.
    """
    pages = sorted((Path(__file__).resolve().parents[2] / "docs").glob("**/*.md"))

    assert setting_variables() - _list_documented(pages) == set()
