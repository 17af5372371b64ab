"""Names in docstrings and comments of the product that the code does not have.

A name of several parts begins with a name of the file, or with a module of the product; the next
part is defined there. A name after "see", "as" or "like" is in the file, or one module defines it.
A name in capitals or with an underscore is a name of the code, or a word of one of its strings,
where columns, settings and keys are.
"""

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec

Members = dict[str, set[str] | None]  # names of a class by its name; None: a value with any names

_WORD = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
_SIMPLE = re.compile(
    r"`(\w*_\w*[a-zA-Z0-9]_{0,2}|[A-Z]+)(?:\([^`]*\))?`|\b([A-Z]+(?:_[A-Z0-9]+)+)\b"
)
_CITED = re.compile(r"\b(?:see|as|like)\s+`([a-z]\w*)`")
_FILE = re.compile(r"\.(?:csv|json|md|py|seq|toml|ya?ml)$")
_PREFIX = re.compile(r"[A-Z]_$")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_DOCUMENTED = ast.Module | ast.ClassDef | _FUNCTIONS
_PLAIN_BASES = {"Struct", "NamedTuple", "Protocol", "Exception", "ValueError"}


class Source(msgspec.Struct, frozen=True):
    """File of the product.

    Attributes:
        texts: docstrings and comments, each with its line.
        names: of its code.
        words: of its strings.
        code: without docstrings and comments.
        members: of what the module defines.
        imports: modules and their names by the names here.
    """

    path: str
    module: str
    texts: list[tuple[int, str]]
    names: set[str]
    words: set[str]
    code: str
    members: Members
    imports: dict[str, str]


def read_source(path: str, content: str) -> Source:
    """Return the names of a file, and its docstrings and comments."""
    tree = ast.parse(content)
    docstrings = dict(_docstrings(tree))
    tokens = list(tokenize.generate_tokens(io.StringIO(content).readline))
    texts = [(node.lineno, str(node.value)) for node in docstrings.values()]
    strings = list(_strings(tree, set(docstrings)))
    for node in docstrings.values():
        node.value = ""
    comments = [(each.start[0], each.string) for each in tokens if each.type == tokenize.COMMENT]
    parts = Path(path).with_suffix("").parts
    return Source(
        path=path,
        module=".".join(parts[:-1] if parts[-1] == "__init__" else parts),
        texts=texts + comments,
        names={each.string for each in tokens if each.type == tokenize.NAME},
        words=set(_WORD.findall(" ".join(strings))),
        code=f"{' '.join(strings)} {ast.unparse(tree)}",
        members=dict(_members(tree)),
        imports=dict(_imports(tree)),
    )


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, ast.Constant]]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            value = node.body[0].value  # type: ignore[attr-defined]
            yield id(value), value


def _strings(tree: ast.Module, docstrings: set[int]) -> Iterator[str]:
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings:
            yield node.value


def _members(tree: ast.Module) -> Iterator[tuple[str, set[str] | None]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = {_WORD.findall(ast.unparse(each))[-1] for each in node.bases}
            yield node.name, _names_of(node) if bases <= _PLAIN_BASES else None
        elif isinstance(node, _FUNCTIONS):
            yield node.name, {argument.arg for argument in ast.walk(node.args) if _is_arg(argument)}
        else:
            yield from ((name, None) for name in _bound(node))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (
                (each.asname or each.name, f"{node.module}.{each.name}") for each in node.names
            )
        elif isinstance(node, ast.Import):
            yield from ((each.asname or each.name, each.name) for each in node.names)


def _is_arg(node: ast.AST) -> bool:
    return isinstance(node, ast.arg)


def _names_of(class_: ast.ClassDef) -> set[str]:
    inside = ast.walk(class_)
    return {
        name
        for node in inside
        for name in (
            [node.name]
            if isinstance(node, _FUNCTIONS)
            else [node.attr]
            if isinstance(node, ast.Attribute)
            else [node.id]
            if isinstance(node, ast.Name)
            else []
        )
    }


def _bound(node: ast.stmt) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id


class References:
    """Names that the product has, by which its texts are checked.

    Args:
        sources: all files of the product.
        more: names that it shares with others, such as `table.column`.
    """

    def __init__(self, sources: Iterable[Source], more: Iterable[str] = ()) -> None:
        self._sources = list(sources)
        self._known = set().union(*(each.names | each.words for each in self._sources))
        self._code = "\n".join(each.code for each in self._sources)
        self._more = set(more)
        self._homes = Counter(name for each in self._sources for name in each.members)
        self._modules: dict[str, list[Source]] = defaultdict(list)  # by each end of the name
        for source in self._sources:
            parts = source.module.split(".")
            for first in range(len(parts)):
                self._modules[".".join(parts[first:])].append(source)

    def unresolved(self) -> Iterator[str]:
        """Yield each name in the texts that no code has, with its place."""
        for source in self._sources:
            for line, text in source.texts:
                for name in self._wrong(source, text):
                    yield f"{source.path}:{line}: {name}"

    def _wrong(self, source: Source, text: str) -> Iterator[str]:
        for name in (name for found in _SIMPLE.findall(text) for name in found if name):
            if name not in self._known and not _PREFIX.search(name):
                yield name
        for name in _CITED.findall(text):
            if name not in source.names | source.words and self._homes[name] != 1:
                yield name
        for name in _DOTTED.findall(text):
            if name not in self._more and not _FILE.search(name) and not self._has(source, name):
                yield name

    def _has(self, source: Source, name: str) -> bool:
        head, _, rest = name.partition(".")
        if head in source.members:
            return _has(source.members[head], rest)
        whole = f"{source.imports.get(head, head)}.{rest}"
        for count in range(whole.count(".") + 1):
            module, *names = whole.rsplit(".", count)
            if module in self._modules:
                return any(_defines(each, names) for each in self._modules[module])
        return head in source.imports or name in self._code or find_spec(head) is not None


def _defines(source: Source, names: list[str]) -> bool:
    if not names:
        return True
    if names[0] in source.imports:
        return True
    return names[0] in source.members and _has(source.members[names[0]], ".".join(names[1:]))


def _has(members: set[str] | None, rest: str) -> bool:
    return members is None or not rest or rest.partition(".")[0] in members
