"""Texts that people read in a repository: documents, templates, messages, docstrings, names."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

DOCUMENTS = {".md", ".html", ".yaml", ".tpl", ".gotmpl", ".txt", ".sh", ".toml", ".mako"}
_NAMED_DOCUMENTS = {"Makefile", "Dockerfile"}
# Written by others, frozen (migrations of a catalog), or the lists of this check itself.
_NOT_OURS = re.compile(
    r"^(requirements/|.*/migrations/versions/|tests/(?!.*\.(py|sh)$)|tests/suite/language\.toml$)"
)
# Names that are in use elsewhere: in code, a database, JSON, a file. They are checked where our
# Python defines them. In a text they are in backticks, in quotes, or of several parts.
_NAMES = [
    re.compile(r"`+[^`\n]*`+"),
    re.compile(r"https?://\S+"),
    re.compile(r"""\\?["'][\w.:-]*\\?["']"""),
    re.compile(r"\w*(?:_\w*|\w[./:=-]\w)+\w*"),
]
_CODE = re.compile(r"(?s)(?<!`)`(?!`)(?:[^`\n]|\n(?!\n))*`")
# Tests may open with either, and so may a verb that is a noun here: "Merge of roots".
_NO_VERB = re.compile(r"tests/|[^:]*:\W*\w+ (?:and|by|for|from|in|of|to)\b")
_DOC_NODES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Text(NamedTuple):
    """Line of text, with the file and the number of the line."""

    path: str
    line: int
    text: str


class Opening(NamedTuple):
    """First word of a docstring or of a test's name.

    `kind` is `docstring`, `test`, or `module` for the docstring of a module outside the tests.
    """

    path: str
    line: int
    kind: str
    word: str


def is_checked(path: str) -> bool:
    """Return whether a file has texts of ours, by its path from the root."""
    name = Path(path)
    is_text = name.suffix in DOCUMENTS | {".py"} or name.name in _NAMED_DOCUMENTS
    return is_text and not _NOT_OURS.match(path)


def texts_of(path: str, content: str) -> Iterator[Text]:
    """Yield the lines of a file that are checked, without names that are in use elsewhere."""
    if not path.endswith(".py"):
        content = _CODE.sub(lambda found: "\n" * found[0].count("\n"), content)
        yield from _lines(path, 1, content)
        return
    tree = ast.parse(content)
    yield from _comments(path, content)
    yield from _strings(path, tree)
    yield from _names(path, tree)


def openings_of(path: str, content: str) -> Iterator[Opening]:
    """Yield the first words of a Python file's docstrings and of its tests' names."""
    for node in ast.walk(ast.parse(content)):
        if not isinstance(node, _DOC_NODES):
            continue
        if docstring := ast.get_docstring(node):
            line = node.body[0].lineno
            yield Opening(path, line, "docstring", _first_word(docstring))
            if isinstance(node, ast.Module) and not _NO_VERB.match(f"{path}:{docstring}"):
                yield Opening(path, line, "module", _first_word(docstring))
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test_"):
            yield Opening(path, node.lineno, "test", node.name.split("_")[1])


def _first_word(text: str) -> str:
    found = re.match(r"\W*([A-Za-z]+(?:-[A-Za-z]+)*)", text)
    return found[1].lower() if found else ""


def _lines(path: str, first: int, text: str) -> Iterator[Text]:
    for number, line in enumerate(text.splitlines(), first):
        for name in _NAMES:
            line = name.sub(" ", line)  # noqa: PLW2901 - a pattern at a time
        yield Text(path, number, line)


def _comments(path: str, content: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield from _lines(path, token.start[0], token.string)


def _strings(path: str, tree: ast.AST) -> Iterator[Text]:
    """Yield strings of more than one word; one word is a value, such as a key of JSON."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and _is_prose(node.value):
            for text in _lines(path, node.lineno, node.value):
                yield text._replace(line=min(text.line, node.end_lineno or text.line))


def _is_prose(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and re.search(r"\s", value) is not None


def _names(path: str, tree: ast.AST) -> Iterator[Text]:
    """Yield the names that a file defines, their words apart."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if name := _defined(node):
            found.setdefault(name, getattr(node, "lineno", 1))
    for name, line in found.items():
        yield Text(path, line, name.replace("_", " "))


def _defined(node: ast.AST) -> str | None:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.arg(arg=name) | ast.alias(asname=str(name)):
            return name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
    return None
