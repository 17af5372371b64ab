"""Public names of the product that mean two things.

Types are classes and aliases such as `Name = tuple[str, str]`: the product has each of their names
once. All else, functions and constants, is compared where it is imported without its module.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

_IS_TYPE = re.compile(r"[A-Z]\w*[a-z]\w*")
_Places = dict[str, set[str]]  # modules, by the name


class Module(msgspec.Struct, frozen=True):
    """Module of the product or of its tests."""

    name: str
    tree: ast.Module
    is_product: bool = True


def repeated_types(modules: Iterable[Module]) -> _Places:
    """Return the public classes and aliases of one name that several modules define."""
    places: _Places = defaultdict(set)
    for module in modules:
        for name in filter(_IS_TYPE.fullmatch, _definitions(module)):
            places[name].add(module.name)
    return _several(places)


def repeated_imports(modules: Iterable[Module]) -> _Places:
    """Return the functions and constants of one name that are imported bare from several modules.

    A name that is used with its module, as `lint.main`, may be that of others.
    """
    modules = list(modules)
    homes = _homes(modules)
    places: _Places = defaultdict(set)
    for source, name in (bare for module in modules for bare in _bare_imports(module)):
        if (home := homes.get((source, name))) is not None:
            places[name].add(home)
    return _several(places)


def _homes(modules: list[Module]) -> dict[tuple[str, str], str]:
    """Return the module that defines a name, by each module that has it, and the name."""
    homes = {
        (module.name, name): module.name for module in modules for name in _definitions(module)
    }
    packages = {module.name.rpartition(".")[0] for module in modules}
    passed_on = {  # a package has the names that it imports
        (module.name, name): homes[source, name]
        for module in modules
        if module.name in packages
        for source, name in _bare_imports(module)
        if (source, name) in homes
    }
    return homes | passed_on


def _definitions(module: Module) -> Iterator[str]:
    """Yield the public names that a module of the product defines."""
    for node in module.tree.body if module.is_product else ():
        yield from (name for name in _names(node) if not name.startswith("_"))


def _names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines; `a, b = 1, 2` defines two."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found = (each for target in targets for each in ast.walk(target))
        yield from (each.id for each in found if isinstance(each, ast.Name))


def _bare_imports(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import; an import by another name is one of both."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def _several(places: _Places) -> _Places:
    return {name: found for name, found in places.items() if len(found) > 1}
