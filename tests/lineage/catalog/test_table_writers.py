"""Writers of tables: each package writes the tables that CONTRIBUTING gives to its role."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sqlalchemy import Table

_ROOT = Path(__file__).parents[3]
_CALLS = {"insert", "update", "delete", "fold_rows", "upsert", "insert_or_fold", "lock_row"}
_SQL = re.compile(r"\b(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+([a-z_]+)")
_ROW = re.compile(r"(?m)^\| \w+ \| `lineward [^|]*\| ([^|]*) \| ([^|]*) \|$")
_TICKED = re.compile(r"`([\w/]+)`")
_SHARED = {"requests", "shared"}  # whose tables have several writers
_IN_MEMORY = {"service/queries/lake/names.py"}  # a database of its own


def _tables_of(module: str) -> dict[str, str]:
    """Return the tables that a module of the catalog defines, by their names in Python."""
    found = vars(import_module(f"lineage.catalog.tables.{module}"))
    return {name: each.name for name, each in found.items() if isinstance(each, Table)}


def _modules() -> list[str]:
    files = (_ROOT / "lineage/catalog/tables").glob("*.py")
    return sorted(each.stem for each in files if each.stem not in {"__init__", "columns"})


_MODULE_OF = {table: module for module in _modules() for table in _tables_of(module).values()}
_NAMES = {name: table for module in _modules() for name, table in _tables_of(module).items()}


def written_tables(source: str) -> set[str]:
    """Return the tables that the statements of a module write: in SQLAlchemy, or as SQL."""
    tree = ast.parse(source)
    bare = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lineage.catalog.")
        for alias in node.names
    }
    return {_NAMES[name] for name in _names(tree, bare) if name in _NAMES} | {
        table
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for table in _SQL.findall(node.value)
        if table in _MODULE_OF
    }


def _names(tree: ast.AST, bare: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        called = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
        if called not in _CALLS and not isinstance(node.func, ast.Call):  # insert_for(…)(table)
            continue
        for each in (of, *node.args):
            if isinstance(each, ast.Name):
                yield bare.get(each.id, "")
            elif isinstance(each, ast.Attribute) and _name(each.value) == "tables":
                yield each.attr


def _name(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _roles() -> dict[str, set[str]]:
    """Return the modules of tables that a package may write, as CONTRIBUTING says."""
    rows = _ROW.findall((_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    return {
        package: set(_TICKED.findall(modules))
        for packages, modules in rows
        for package in _TICKED.findall(packages)
    }


def _foreign(file: Path, roles: dict[str, set[str]]) -> set[str]:
    path = file.relative_to(_ROOT).as_posix()
    package = max((each for each in roles if path.startswith(f"{each}/")), key=len)
    written = written_tables(file.read_text(encoding="utf-8"))
    allowed = roles[package] | _SHARED
    return {f"{path}: {table}" for table in written if _MODULE_OF[table] not in allowed}


def test_each_package_writes_the_tables_of_its_role():
    roles = _roles()
    packages = ("slis", "alerts", "runbooks", "service")
    files = [file for each in packages for file in sorted((_ROOT / each).rglob("*.py"))]
    ours = [file for file in files if file.relative_to(_ROOT).as_posix() not in _IN_MEMORY]
    assert set().union(*(_foreign(file, roles) for file in ours)) == set()


def test_each_module_of_tables_has_a_role_or_is_shared():
    assert set().union(*_roles().values()) | _SHARED == set(_modules())


def test_statements_are_found_in_python_and_in_sql():
    source = '''
from lineage.catalog import tables
from lineage.catalog.tables import batch as b
SQL = """DELETE FROM run_io WHERE day < 1"""
connection.execute(tables.edge_reported.insert(), rows)
connection.execute(insert(b), rows)
connection.execute(insert_for(dialect)(tables.meta), rows)
connection.scalar(select(tables.dataset))
'''
    assert written_tables(source) == {"run_io", "edge_told", "batch", "meta"}
