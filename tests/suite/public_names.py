"""Public names of the product that mean two things: of classes, and of functions imported bare."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = _FUNCTIONS | ast.ClassDef
_Places = dict[str, set[str]]  # modules, by the name


class Module(msgspec.Struct, frozen=True):
    """Module of the product or of its tests."""

    name: str
    tree: ast.Module
    is_product: bool = True


def repeated_classes(modules: Iterable[Module]) -> _Places:
    """Return the public classes of one name that several modules of the product define."""
    places: _Places = defaultdict(set)
    for module in modules:
        for node in _definitions(module):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(module.name)
    return _several(places)


def repeated_functions(modules: Iterable[Module]) -> _Places:
    """Return the functions of one name that are imported bare from several modules.

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
    """Return the module that defines a function, by each module that has it, and its name."""
    homes = {
        (module.name, node.name): module.name
        for module in modules
        for node in _definitions(module)
        if isinstance(node, _FUNCTIONS)
    }
    packages = {module.name.rpartition(".")[0] for module in modules}
    passed_on = {  # a package has the functions that it imports
        (module.name, name): homes[source, name]
        for module in modules
        if module.name in packages
        for source, name in _bare_imports(module)
        if (source, name) in homes
    }
    return homes | passed_on


def _definitions(module: Module) -> Iterator[_DEFINITIONS]:
    """Yield the public functions and classes that a module of the product defines."""
    for node in module.tree.body if module.is_product else ():
        if isinstance(node, _DEFINITIONS) and not node.name.startswith("_"):
            yield node


def _bare_imports(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import; an import by another name is one of both."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def _several(places: _Places) -> _Places:
    return {name: found for name, found in places.items() if len(found) > 1}
