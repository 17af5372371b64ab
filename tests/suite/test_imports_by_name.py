"""Modules that the product imports by a string, which no type checker follows."""

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("alerts", "collector", "dashboards", "lab", "lineage", "runbooks", "service", "slis")
_MODULE = re.compile(rf"({'|'.join(_PACKAGES)})(\.\w+)+")
_IMPORT = re.compile(rf"from ({_MODULE.pattern}) import (\w+(?:, \w+)*)")


def _trees() -> Iterator[tuple[str, ast.AST]]:
    for package in _PACKAGES:
        for file in sorted((_ROOT / package).rglob("*.py")):
            yield str(file.relative_to(_ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def list_imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Return each module and the name that is taken from it; "" where only the module is named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _MODULE.fullmatch(_text(node.args[0])):
            yield _text(node.args[0]), ""
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            module = next(map(_text, node.value.args), "")
            if _MODULE.fullmatch(module) and "import_module" in ast.unparse(node.value.func):
                yield module, node.attr
        elif isinstance(node, ast.Tuple | ast.List):
            yield from _list_pairs([*map(_text, node.elts)])


def _list_pairs(texts: list[str]) -> Iterator[tuple[str, str]]:
    for first, second in pairwise(texts):
        if first == "-m" and second.split(".")[0] in _PACKAGES:  # a command line
            yield second, ""
        elif "-m" not in texts and _MODULE.fullmatch(first) and second.isidentifier():
            yield first, second


def find_missing(tree: ast.AST) -> list[str]:
    """Return the modules and names that do not exist."""
    return [
        f"{module} {name}".strip()
        for module, name in list_imports(tree)
        if find_spec(module) is None or (name and not hasattr(import_module(module), name))
    ]


def test_modules_imported_by_a_string_exist() -> None:
    """Find each of them, with the name that is taken from it."""
    found = {file: missing for file, tree in _trees() if (missing := find_missing(tree))}

    assert found == {}
    assert sum(len(list(list_imports(tree))) for _, tree in _trees()) > 20


def imports_of_scripts(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return each module and name that a shell script has Python import."""
    for text in texts:
        for found in _IMPORT.finditer(text):
            yield from ((found[1], name) for name in found[4].split(", "))


def test_shell_scripts_import_what_exists() -> None:
    """Find each name: a script fails only where it runs, as in the build of an image."""
    scripts = [*(_ROOT / "scripts").glob("*.sh"), *(_ROOT / "helm").rglob("*.sh")]
    named = [*imports_of_scripts(script.read_text(encoding="utf-8") for script in scripts)]

    assert [name for module, name in named if not hasattr(import_module(module), name)] == []
    assert named
    assert [*imports_of_scripts(["-c 'from slis.meta import one, two; one()'"])] == [
        ("slis.meta", "one"),
        ("slis.meta", "two"),
    ]


@pytest.mark.parametrize(
    "code",
    [
        'import_module("slis.evaluation.warmup").rehearse',
        'run("slis.evaluation.rehearsal")',
        'PAIRS = (("sql", "slis.evaluation.warmup", "rehearse"),)',
        'argv = (sys.executable, "-m", "service.cli.gone", "up")',
        'argv = [sys.executable, "-m", "slis.gone"]',
    ],
)
def test_a_name_of_before_is_found(code: str) -> None:
    """Report a module or name that was renamed."""
    assert len(find_missing(ast.parse(code))) == 1
