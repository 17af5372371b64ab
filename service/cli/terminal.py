"""Terminal output: escaped names, local time, JSON as documented, and progress bars."""

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree


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


class PartialAnswer(Protocol):
    """Answer that may be incomplete."""

    @property
    def partial_reason(self) -> str | None:
        """Reason why the answer is incomplete, or None."""
        ...


class Branch(Protocol):
    """Node of a tree. `repeated`: its own branch is drawn elsewhere."""

    @property
    def children(self) -> Sequence[Any]:
        """Return the nodes below it, of its own kind."""
        ...

    @property
    def repeated(self) -> bool:
        """Return whether its branch is elsewhere."""
        ...


_Answer = TypeVar("_Answer", bound=PartialAnswer)
_Branch = TypeVar("_Branch", bound=Branch)


def escape_control(text: object) -> str:
    """Escape every control character that a terminal would obey."""
    return "".join(_escaped(character) for character in str(text))


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def print_json(answer: Any) -> None:  # noqa: ANN401 - any document of `docs/cli.md`
    """Print a JSON document on standard output."""
    document = msgspec.json.format(msgspec.json.encode(answer), indent=2)
    sys.stdout.write(document.decode() + "\n")


def plain_lines(lines: Iterable[str]) -> None:
    """Print escaped lines on standard output."""
    sys.stdout.write("".join(f"{escape_control(line)}\n" for line in lines))


def console() -> "Console":
    """Return a console as wide as the terminal, or a wide one for a pipe."""
    from rich.console import Console  # noqa: PLC0415 - `--json` does without

    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def escape_markup(text: object, style: str = "") -> "Text":
    """Return text that rich does not read as markup."""
    from rich.text import Text  # noqa: PLC0415 - as above

    return Text(escape_control(text), style=style)


def wrapping_table(*columns: str, title: str | None = None) -> "Table":
    """Return a table that wraps long names and cuts nothing.

    Short words, and ids that other commands need, stay on one line.
    """
    from rich.table import Table  # noqa: PLC0415 - as above

    shown = Table(title=title and escape_markup(title), title_justify="left")
    for name in columns:
        shown.add_column(name, no_wrap=name in _WHOLE, overflow="fold")
        if name in _NUMBERS:
            shown.columns[-1].justify = "right"
    return shown


def table_or_text(shown: "Table", otherwise: str) -> "RenderableType":
    """Return the table, or a sentence if it has no rows."""
    return shown if shown.row_count else escape_markup(otherwise)


def draw_tree(title: str, nodes: Sequence[_Branch], label: "Callable[[_Branch], Text]") -> "Tree":
    """Return a tree with `label` of each node, or one line that none is known."""
    from rich.tree import Tree  # noqa: PLC0415 - as above

    root = Tree(escape_markup(title if nodes else f"{title}: none known", "bold"))
    _grow(root, nodes, label)
    return root


def _grow(below: "Tree", nodes: Iterable[_Branch], label: "Callable[[_Branch], Text]") -> None:
    for node in nodes:
        _grow(below.add(label(node)), node.children, label)


def elsewhere_note(node: Branch) -> "Text":
    """Return the note that a branch is drawn elsewhere, or nothing."""
    return escape_markup("  (its branch is elsewhere)" if node.repeated else "", "dim")


def state_markup(word: str) -> "Text":
    """Return a state or status in its colour."""
    return escape_markup(word, _STYLES.get(word, ""))


def local_time(instant: str | None) -> str:
    """Format a timestamp in the local time zone, or a dash if there is none."""
    if instant is None:
        return "-"
    return datetime.fromisoformat(instant).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def show_answer(
    answer: _Answer,
    draw: "Callable[[_Answer], RenderableType]",
    *,
    as_json: bool,
    prefix: str = "",
    rows: Sequence[object] | None = None,
) -> None:
    """Print an answer as JSON or as text, and a note about missing parts on standard error.

    Args:
        answer: the answer to print.
        draw: makes the text for people.
        as_json: print JSON for programs.
        prefix: text before the note about missing parts.
        rows: the JSON document, if its documented shape is a list.
    """
    if answer.partial_reason:
        warn(prefix + answer.partial_reason)
    if as_json:
        print_json(answer if rows is None else rows)
    else:
        console().print(draw(answer))


def owner_text(owner: str | None) -> str:
    """Return an owner for a table, in the explorer's words."""
    return owner or "no owner"


def warn(sentence: str) -> None:
    """Print a sentence on standard error, so that JSON on standard output stays clean."""
    sys.stderr.write(f"lineward: {escape_control(sentence)}\n")


def progress_bars(*, quiet: bool) -> "Progress":
    """Return bars that vanish when all is done; none are drawn in a pipe, or if `quiet`."""
    from rich.console import Console  # noqa: PLC0415 - only long commands draw bars
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    is_off = quiet or not sys.stderr.isatty()
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=is_off)


def show_progress(bars: "Progress", what: str, total: float) -> Callable[[float], None]:
    """Show a progress bar, and return the function that advances it."""
    task = bars.add_task(what, total=total)
    return lambda done: bars.update(task, completed=done)
