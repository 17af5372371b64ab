"""References of docstrings and comments: each name that they give is in the code."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Table

from lineage.catalog import tables
from slis.stream.staging import tables as staging
from tests.suite.references import References, read_source

_ROOT = Path(__file__).parents[2]
_TOPS = sorted(
    each.parent.name for each in _ROOT.glob("*/__init__.py") if each.parent.name != "tests"
)
_CODE = {".py", ".toml", ".yaml", ".tpl", ".json"}
_NAME = re.compile(r"`((?!lineage_)[a-z_]\w*_\w+)(?:\(\))?`")
_FROZEN = "lineage/catalog/migrations"
_TABLES = [*tables.metadata.sorted_tables, *staging.staged_metadata.sorted_tables]
_COLUMNS = {f"{table.name}.{column.name}" for table in _TABLES for column in table.c}
_STAGING = {f"staging.{name}" for name, value in vars(staging).items() if isinstance(value, Table)}


@cache
def _others() -> set[str]:
    groups = tomllib.loads(Path(__file__).with_name("references.toml").read_text())["others"]
    return {name for group in groups for name in group["names"]}


def _product() -> References:
    files = (file for top in _TOPS for file in sorted((_ROOT / top).rglob("*.py")))
    paths = {file.relative_to(_ROOT).as_posix(): file for file in files}
    return References(
        [
            read_source(path, file.read_text(encoding="utf-8"))
            for path, file in paths.items()
            if not path.startswith(_FROZEN)
        ],
        _COLUMNS | _STAGING,
    )


def test_each_name_in_a_docstring_or_comment_exists():
    """Find them all; each exception is needed by some text."""
    found = {each.rpartition(" ")[2]: each for each in _product().unresolved()}
    assert [found[name] for name in sorted(found.keys() - _others())] == []
    assert _others() - found.keys() == set()


_HOME = '''
"""Module."""
MAX_SHARED = 3

class Fault:
    """Fault."""

    roots: tuple[int, ...]

    def rank(self): ...


def merge(): ...


def weigh(): ...
'''


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`faults.Fault.roots` and `alerts.faults.Fault.rank`", []),
        ("`faults.Fault.root`", ["faults.Fault.root"]),
        ("`faults.Faults`", ["faults.Faults"]),
        ("`causes.merge`", ["causes.merge"]),
        ("MAX_SHARED, `MAX_SHARED`", []),
        ("MOST_SHARED", ["MOST_SHARED"]),
        ("`no_such_name`", ["no_such_name"]),
        ("see `rank`, as `roots`, like `nothing` (`NAME`)", ["rank", "roots", "nothing"]),
        ("see `weigh`, as `merge`", ["weigh"]),
        ("`os.path`, `run.job_id` and `spool.db`", []),
        ("`LINEWARD_ALERTS_`, `README.md`", []),
    ],
)
@pytest.mark.parametrize("form", ['"""{}"""', "# {}"])
def test_a_name_is_looked_up_where_its_module_says(form, text, wrong):
    sources = [
        read_source("alerts/faults.py", _HOME),
        read_source("alerts/weights.py", "def weigh(): ..."),
        read_source("alerts/roots.py", f"{form.format(text)}\nNAME = 'spool.db'\n"),
    ]
    found = References(sources, {"run.job_id"}).unresolved()
    assert [each.rpartition(" ")[2] for each in found] == wrong


_OF_POSTGRESQL = {"max_prepared_statements", "max_wal_size", "shared_buffers", "temp_buffers"}


def test_each_name_in_the_decisions_exists():
    """Take functions, columns and settings; metrics have a test of their own."""
    tops = [*_TOPS, "tests", "helm"]
    files = [file for top in tops for file in (_ROOT / top).rglob("*") if file.suffix in _CODE]
    code = " ".join(file.read_text(encoding="utf-8") for file in files)
    text = (_ROOT / "docs/decisions.md").read_text(encoding="utf-8")
    named = set(_NAME.findall(text)) - _OF_POSTGRESQL
    assert named - set(re.findall(r"\w+", code)) == set()
