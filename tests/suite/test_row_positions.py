"""Rows are read by the names of their columns: a query may gain a column anywhere."""

import subprocess
from pathlib import Path
from typing import Literal, get_type_hints

import pytest

from lineage.catalog.rows import Row
from tests.suite.row_positions import find_positions

_ROOT = Path(__file__).parents[2]


def modules():
    """Return the modules of the product."""
    listed = subprocess.run(
        ["git", "ls-files", "--", "*.py", ":!tests"],
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [_ROOT / name for name in listed.stdout.splitlines()]


def test_no_module_reads_a_third_column_by_its_position():
    """Follow rows of queries through every function of the product."""
    assert [
        f"{path.relative_to(_ROOT)}:{use}"
        for path in modules()
        for use in find_positions(path.read_text(encoding="utf-8"))
    ] == []


def test_a_typed_row_has_two_positions():
    """Leave later columns to mypy, which follows the rows of a reader between functions."""
    assert get_type_hints(Row.__getitem__)["place"] == Literal[0, 1]


@pytest.mark.parametrize(
    "source",
    [
        "for row in reader.rows(SQL): print(row[2])",
        "for row in connection.execute(SQL).all()[:9]: print(row[1:])",
        "rows = rows_for(reader, SQL, keys)\nfound = [Shape(*row) for row in rows]",
        "(row,) = reader.rows(SQL)\nfirst, *rest = row",
        "row = connection.execute(SQL).one()\nprint(row[-1])",
        "rows = connection.execute(SQL)\nfor first, *rest in rows: print(rest)",
        "print(reader.rows(SQL)[0][3])",
        "def _member(row: Row) -> str:\n    return row[4]",
        "def _ends(rows: list[Row]) -> list[str]:\n    return [row[5] for row in rows]",
        "def f():\n    rows = reader.rows(SQL)\n    return sorted(rows, key=one) and rows[0][2]",
    ],
)
def test_positional_use_is_found(source):
    """Report one use of each kind, wherever the row comes from."""
    assert len(list(find_positions(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "for row in reader.rows(SQL): print(row[0], row[1], row.name)",
        "for key, namespace, name in reader.rows(SQL): print(key, namespace, name)",
        "names = {row[0]: row for row in reader.rows(SQL)}\nprint(names[7])",
        "print(reader.rows(SQL)[2][0], pair[2], text[:80])",
    ],
)
def test_names_and_two_positions_pass(source):
    """Report no use of names, of two columns, or of what is no row."""
    assert list(find_positions(source)) == []
