"""Public names of the product: one name does not mean two things."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.suite.public_names import Module, repeated_imports, repeated_types

_ROOT = Path(__file__).parents[2]
_PRODUCT = (
    *("alerts", "collector", "dashboards", "helm", "lab", "lineage", "runbooks", "service"),
    "slis",
)
_FROZEN = "lineage/catalog/migrations"  # each step of the schema has the same two functions


def _module(file: Path, *, is_product: bool) -> Module:
    parts = file.relative_to(_ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if file.name == "__init__.py" else parts)
    return Module(name, ast.parse(file.read_text(encoding="utf-8")), is_product)


@cache
def _modules() -> list[Module]:
    return [
        _module(file, is_product=package != "tests")
        for package in (*_PRODUCT, "tests")
        for file in sorted((_ROOT / package).rglob("*.py"))
        if not file.relative_to(_ROOT).is_relative_to(_FROZEN)
    ]


def _excepted() -> set[str]:
    groups = tomllib.loads(Path(__file__).with_name("public_names.toml").read_text())["stays"]
    return {name for group in groups for name in group["names"]}


@cache
def _repeated() -> dict[str, set[str]]:
    return repeated_types(_modules()) | repeated_imports(_modules())


def test_a_public_name_means_one_thing():
    """Ask for a name that says more, or for one definition in place of several."""
    assert {name: where for name, where in _repeated().items() if name not in _excepted()} == {}
    assert len(_modules()) > 1_000


def test_no_exception_outlives_its_names():
    """Find exceptions of which at most one definition is left."""
    assert _excepted() - _repeated().keys() == set()


def _parsed(**sources: str) -> list[Module]:
    return [
        Module(name.replace("_", "."), ast.parse(source), is_product=not name.startswith("tests"))
        for name, source in sources.items()
    ]


@pytest.mark.parametrize("other", ["class Run: ...", "Run = tuple[str, str]", "Run: X = str"])
def test_two_types_of_one_name_are_found(other):
    """Report both modules, without any import of them; private types and those of tests pass."""
    modules = _parsed(a_one="class Run: ...", a_two=other, tests_x="class Run: ...")
    private = _parsed(a_one="class _Run: ...", a_two=other.replace("Run", "_Run"))

    assert repeated_types(modules) == {"Run": {"a.one", "a.two"}}
    assert repeated_types(private) == {}


@pytest.mark.parametrize(
    "user",
    [
        "from a.one import page\nfrom a.two import page as other",
        "def f():\n    from a.one import page\ndef g():\n    from a.two import page",
        "from a import page\nfrom a.two import page as other",
    ],
)
def test_two_functions_of_one_name_that_are_imported_bare_are_found(user):
    """Report them when renamed at the import, imported in a function, or passed on by a package."""
    package = {
        "a": "from a.one import page",
        "a_one": "def page(): ...",
        "a_two": "def page(): ...",
    }

    assert repeated_imports(_parsed(**package, tests_x=user)) == {"page": {"a.one", "a.two"}}


@pytest.mark.parametrize("other", ["RULES = ()", "RULES: Final = ()", "MOST, RULES = 1, ()"])
def test_two_constants_of_one_name_that_are_imported_bare_are_found(other):
    """Report them as functions are; a constant that nobody imports bare passes."""
    constants = {"a_one": "RULES = ()", "a_two": other}
    user = "from a.one import RULES\nfrom a.two import RULES as other"

    assert repeated_imports(_parsed(**constants, b=user)) == {"RULES": {"a.one", "a.two"}}
    assert repeated_imports(_parsed(**constants, b="from a.one import RULES\nimport a.two")) == {}


def test_functions_that_are_used_with_their_module_pass():
    """Allow `one.page` beside a bare `page`, and names that another package defines."""
    modules = _parsed(
        a_one="def page(): ...",
        a_two="def page(): ...",
        b="from a import one\nfrom a.two import page\nfrom elsewhere import page as third",
    )

    assert repeated_imports(modules) == {}
