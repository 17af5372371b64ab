"""Progress bar for each part of a long command: on standard error, on a terminal only."""

import sys
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def progress(*, quiet: bool) -> Progress:
    """Bars that are gone when all is done; none at all in a pipe, or where nobody wants them."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    is_off = quiet or not sys.stderr.isatty()
    return Progress(*columns, console=Console(stderr=True), transient=True, disable=is_off)


def part(bars: Progress, what: str, total: float) -> Callable[[float], None]:
    """Show a progress bar, and return the function that advances it."""
    task = bars.add_task(what, total=total)
    return lambda done: bars.update(task, completed=done)
