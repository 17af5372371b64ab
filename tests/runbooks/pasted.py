"""Text of a page for the clipboard: shell lines, own commands, PromQL."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer.main
from typer._click.exceptions import MissingParameter  # nothing of typer's own re-exports it

from service.cli.main import app

_FENCED = re.compile(r"(?ms)^( *)```(\w+)\n(.*?)^\1```$")
_INLINE = re.compile(r"`(lineward [^`]+)`")
_VARIABLE = re.compile(r"\$\{?([A-Z_]+)")
_HERE_DOCUMENT = re.compile(r"(?ms)<<(\w+)$.*?^\1$")
_TO_FILE = frozenset({">", ">>", "<"})


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks in this language, without their indent."""
    found = (match for match in _FENCED.finditer(page) if match[2] == language)
    return [re.sub(rf"(?m)^{match[1]}", "", match[3]) for match in found]


def queries(page: str) -> list[str]:
    """Return the PromQL queries, one per paragraph."""
    parts = [part for block in blocks(page, "promql") for part in block.split("\n\n")]
    return [part.strip() for part in parts if part.strip()]


def variables(page: str) -> set[str]:
    """Return the names of the shell's variables that the page uses."""
    return set(_VARIABLE.findall(page))


def commands(page: str) -> list[list[str]]:
    """Return the arguments of each `lineward` in a block."""
    return [words[1:] for words in simple(page) if words[0] == "lineward"]


def mentioned(page: str) -> list[list[str]]:
    """Return the arguments of each `lineward …` inside a sentence."""
    return [shlex.split(text)[1:] for text in _INLINE.findall(page) if "…" not in text]


def simple(page: str) -> Iterator[list[str]]:
    """Return each simple command of the shell blocks."""
    for block in blocks(page, "sh"):
        yield from simple_commands(block)


def simple_commands(block: str) -> Iterator[list[str]]:
    """Return each simple command of one shell block."""
    without = _HERE_DOCUMENT.sub("", block).replace("\\\n", " ")
    lexer = shlex.shlex(without, posix=True, punctuation_chars="|&;<>()\n")
    lexer.whitespace = " \t"
    lexer.whitespace_split = True
    words: list[str] = []
    tokens = iter([*lexer, "\n"])
    for token in tokens:
        if token in _TO_FILE:
            next(tokens)  # the file
        elif set(token) <= set("|&;<>()\n"):
            if words:
                yield _without_prefix(words)
            words = []
        else:
            words.append(token)


def _without_prefix(words: list[str]) -> list[str]:
    return words[1:] if words[0] == "time" else words


def parse(arguments: list[str], *, is_cut: bool = False) -> str:
    """Check arguments with the real command line; return their command.

    Args:
        arguments: without the program's name.
        is_cut: whether required parts may be missing at their end.

    Raises:
        Exception: the parser's own, for an unknown command, option or value.
    """
    command: Any = typer.main.get_command(app)
    given = ["1" if each == "$NUMBER" else each for each in arguments]
    context = command.make_context("lineward", given)
    while hasattr(command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not rest:  # a sentence may name the group alone
            break
        name, command, rest = command.resolve_command(context, rest)
        try:
            context = command.make_context(name, rest, parent=context)
        except MissingParameter:
            if not is_cut:
                raise
            return str(name)
    return str(context.command_path)
