"""Docstrings that say another thing than the code: of what is returned, yielded or raised.

An error of `Raises:` is a builtin, a class of a module that the file imports, at first hand or by
other modules (functions name what those that they call raise, too), or a whole name.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec

import msgspec

_RAISES = re.compile(r"^ *Raises:\n((?: +.*\n?|\n)*)", re.MULTILINE)
_ERROR = re.compile(r"^( +)([\w.]+):", re.MULTILINE)
_AT_LAST = re.compile(r"Return (?:if|once|when) ")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (*_FUNCTIONS.__args__, ast.Lambda, ast.ClassDef)
_MANY = {"Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncGenerator"}


class Claims(msgspec.Struct, frozen=True):
    """Module with what its docstrings claim.

    Attributes:
        name: of the module.
        classes: that it defines.
        imports: modules that it imports, or names in them.
        raised: errors by the line of the function.
        wrong: what the docstring of a function says of its result, by the line.
    """

    path: str
    name: str
    classes: set[str]
    imports: set[str]
    raised: list[tuple[int, str]]
    wrong: list[tuple[int, str]]


def read_claims(path: str, content: str) -> Claims:
    """Return what the docstrings of a file claim."""
    tree = ast.parse(content)
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    documented = [
        node for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS.__args__, ast.ClassDef))
    ]
    return Claims(
        path=path,
        name=path.removesuffix(".py").removesuffix("/__init__").replace("/", "."),
        classes={node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)},
        imports=set(_imports(tree)),
        raised=[(node.lineno, name) for node in documented for name in _raised(node)],
        wrong=[
            (node.lineno, f"{node.name}: {claim}") for node in functions for claim in _wrong(node)
        ],
    )


def find_unknown_errors(modules: Iterable[Claims]) -> Iterator[str]:
    """Yield each error of `Raises:` that no module within reach defines, with its place."""
    by_name = {module.name: module for module in modules}
    for module in by_name.values():
        if unknown := [each for each in module.raised if not hasattr(builtins, each[1])]:
            classes = _within_reach(module, by_name)
            yield from (
                f"{module.path}:{line}: {error}"
                for line, error in unknown
                if not _exists(error, classes, by_name)
            )


def _exists(error: str, classes: set[str], by_name: dict[str, Claims]) -> bool:
    """Return whether a name with its module exists, as `sqlite3.Error`."""
    module, _, name = error.rpartition(".")
    if module in by_name:
        return name in by_name[module].classes
    if not module or find_spec(module.partition(".")[0]) is None:
        return name in classes
    return hasattr(import_module(module), name)


def _within_reach(module: Claims, by_name: dict[str, Claims]) -> set[str]:
    seen, waiting = {module.name}, [module]
    for each in waiting:
        names = {name for found in each.imports for name in (found, found.rpartition(".")[0])}
        fresh = (names & by_name.keys()) - seen
        seen |= fresh
        waiting += [by_name[name] for name in fresh]
    foreign = {found.rpartition(".")[2] for each in waiting for found in each.imports}
    return foreign.union(*(each.classes for each in waiting))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def _raised(node: ast.AST) -> Iterator[str]:
    for section in _RAISES.findall(ast.get_docstring(node) or ""):
        found = _ERROR.findall(section)
        yield from (name for indent, name in found if indent == found[0][0])


def _wrong(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    text = ast.get_docstring(node) or ""
    first = text.partition(" ")[0]
    result = ast.unparse(node.returns) if node.returns else ""
    # A check returns if all is well, and raises otherwise.
    if first == "Return" and result == "None" and not _AT_LAST.match(text):
        yield "returns nothing"
    is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _own(node))
    if first == "Yield" and not is_generator and result.partition("[")[0] not in _MANY:
        yield "yields nothing"


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own(child)
