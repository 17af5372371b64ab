"""What a terminal shows: names from events escaped, instants in local time, JSON as documented."""

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text


class Answer(Protocol):
    """One that may be a part of what there is."""

    @property
    def partial_reason(self) -> str | None:
        """Why it is; none: it is all of it."""
        ...


_Answer = TypeVar("_Answer", bound=Answer)
# Control, format (text direction), surrogates, line and paragraph separators: what a name could
# use to rewrite the screen around it.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_STYLES = {
    "bad": "bold red",
    "unknown": "yellow",
    "learning": "cyan",
    "good": "green",
    "running": "green",
    "restarting": "yellow",
    "waiting": "yellow",
    "failing": "bold red",
    "stopped": "red",
    "COMPLETE": "green",
    "FAIL": "bold red",
}


_WHOLE = frozenset({"incident", "severity", "state", "status", "tier", "SLI", "did", "role"})
_NUMBERS = frozenset({"good", "total", "ratio", "objective", "steps"})


def clean(text: object) -> str:
    """The text with every character that a terminal would obey written as an escape."""
    return "".join(_escaped(character) for character in str(text))


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def print_json(answer: Any) -> None:  # noqa: ANN401 - any of `answers.shapes`
    """One JSON document on standard output."""
    document = msgspec.json.format(msgspec.json.encode(answer), indent=2)
    sys.stdout.write(document.decode() + "\n")


def plain_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, each cleaned."""
    sys.stdout.write("".join(f"{clean(line)}\n" for line in lines))


def console() -> "Console":
    """Standard output, as wide as the terminal; a pipe gets wide lines, so that none is cut."""
    from rich.console import Console  # noqa: PLC0415 - `--json` does without

    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def plain(text: object, style: str = "") -> "Text":
    """Text for rich, never read as its markup."""
    from rich.text import Text  # noqa: PLC0415 - as above

    return Text(clean(text), style=style)


def grid(*columns: str, title: str | None = None) -> "Table":
    """A table in which nothing is cut: names are folded where they are too long for the screen.

    Words of a few letters, and ids that the next command asks for, stay on one line.
    """
    from rich.table import Table  # noqa: PLC0415 - as above

    shown = Table(title=title and plain(title), title_justify="left")
    for name in columns:
        shown.add_column(name, no_wrap=name in _WHOLE, overflow="fold")
        if name in _NUMBERS:
            shown.columns[-1].justify = "right"
    return shown


def filled(shown: "Table", otherwise: str) -> "RenderableType":
    """The table; where it has no row, a sentence, for a frame around nothing says nothing."""
    return shown if shown.row_count else plain(otherwise)


def state(word: str) -> "Text":
    """A state or status in its colour."""
    return plain(word, _STYLES.get(word, ""))


def local(instant: str | None) -> str:
    """An instant of an answer in the reader's own time zone; a dash when there is none."""
    if instant is None:
        return "-"
    return datetime.fromisoformat(instant).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def show(
    answer: _Answer,
    draw: "Callable[[_Answer], RenderableType]",
    *,
    as_json: bool,
    said: str = "",
    rows: Sequence[object] | None = None,
) -> None:
    """An answer as JSON, or drawn; that it is not all of it, on standard error, behind `said`.

    Args:
        answer: to be shown.
        draw: for people.
        as_json: for programs.
        said: before why it is not all of it.
        rows: what stands in the JSON alone, of an answer whose documented shape is a list.
    """
    if answer.partial_reason:
        warn(said + answer.partial_reason)
    if as_json:
        print_json(answer if rows is None else rows)
    else:
        console().print(draw(answer))


def warn(sentence: str) -> None:
    """A sentence on standard error: JSON on standard output stays clean."""
    sys.stderr.write(f"lineward: {clean(sentence)}\n")
