"""Progress bar for each part of a long command: on standard error, on a terminal only."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


def progress(*, quiet: bool) -> "Progress":
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


def part(bars: "Progress", what: str, total: float) -> Callable[[float], None]:
    """Show a progress bar, and return the function that advances it."""
    task = bars.add_task(what, total=total)
    return lambda done: bars.update(task, completed=done)
