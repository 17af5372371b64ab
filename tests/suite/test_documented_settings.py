"""Settings and their tables in `docs/`."""

import re
from pathlib import Path

from lineage.process.environment import OLD_NAMES
from tests.suite.variables import setting_variables

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_ROW = re.compile(r"(?m)^\| (`LINEWARD_[^|]*) \|")
_VARIABLE = re.compile(r"LINEWARD_[A-Z_]+[A-Z]\b")


def _list_documented(pages: list[Path]) -> set[str]:
    rows = [row for page in pages for row in _ROW.findall(page.read_text("utf-8"))]
    return {variable for row in rows for variable in _VARIABLE.findall(row)}


def test_each_setting_has_a_row_in_a_table():
    """Reject a setting without a row in the docs.

    Mutant: without the row of `LINEWARD_PIPELINE_POLL_SECONDS` the set contains this variable.
    """
    pages = sorted(_DOCS.glob("**/*.md"))

    assert setting_variables() - _list_documented(pages) == set()


def test_the_page_of_settings_lists_exactly_the_settings():
    """Find each variable on docs/settings.md, and beside them only the old names still accepted.

    Mutant: without the row of Kafka the page lacks four variables.
    """
    page = (_DOCS / "settings.md").read_text("utf-8")

    assert set(_VARIABLE.findall(page)) == setting_variables() | set(OLD_NAMES)
