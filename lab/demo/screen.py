"""Output of the demo: a line as a step begins and ends, and the tables at its end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lab.demo.lineward_up import LinewardUp
from service.cli.commands.slis import sli_table
from service.cli.terminal import console, escape_markup, state_markup, wrapping_table
from service.queries.shapes import DatasetRow
from service.runtime.settings import Settings

_GOOD = "good"
_COMMANDS = ("slis", "datasets", "lineage mart/revenue", "why mart/churn", "status")


class Screen:
    """Terminal, or a file that gets the same lines without the bar."""

    def __init__(self, steps: int) -> None:
        self._console = console()
        self._progress = Progress(
            TextColumn("  {task.description}", style="dim"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            # A thread that draws would be there when children are forked.
            auto_refresh=False,
            transient=True,
        )
        self._steps = self._progress.add_task("", total=steps)
        self._began = time.monotonic()

    def draw(self) -> None:
        """Draw the bar as of now."""
        if self._console.is_terminal:
            self._progress.refresh()

    @contextmanager
    def bar(self) -> Iterator[None]:
        """Show the bar below all lines."""
        if not self._console.is_terminal:
            yield
            return
        with self._progress:
            yield

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Say what begins, and how long it took."""
        began = time.monotonic()
        self._progress.update(self._steps, description=text.partition(":")[0])
        self.say(text, style="bold")
        yield
        self._progress.advance(self._steps)
        self.say(f"    done in {time.monotonic() - began:.0f} s", style="dim")

    def say(self, text: str, style: str = "") -> None:
        """Print a line, after the seconds since the start."""
        seconds = time.monotonic() - self._began
        self._console.print(
            escape_markup(f"{seconds:4.0f} s  ", "dim") + escape_markup(text, style)
        )

    def show(self, home: LinewardUp) -> None:
        """Print the SLIs by tier, and datasets that are not good: reason and owner."""
        self._console.print(sli_table(home.slis()))
        self._console.print(_problems(home))

    def addresses(self, settings: Settings) -> None:
        """Print where to look next, and useful commands."""
        for line in _addresses(settings):
            self._console.print(escape_markup(line), soft_wrap=True)


def _problems(home: LinewardUp) -> RenderableType:
    columns = ("dataset", "state", "SLI", "reason", "owner", "tier", "evidence")
    shown = wrapping_table(*columns, title="problems")
    for name, row in home.datasets().items():
        if row.state != _GOOD:
            shown.add_row(
                escape_markup(name), state_markup(row.state), *map(escape_markup, _cells(row, home))
            )
    return shown


def _cells(row: DatasetRow, home: LinewardUp) -> tuple[str, ...]:
    known = (row.sli, row.reason, row.owner, row.tier)
    return (*(word or "-" for word in known), home.evidence(row))


def _addresses(settings: Settings) -> Iterator[str]:
    at = f"http://{settings.host}"
    yield "Explore from another terminal:"
    yield f"  pages     {at}:{settings.service_port}/  (overview and open incidents)"
    yield f"  API       {at}:{settings.service_port}/schema"
    yield f"  SLIs      {at}:{settings.service_port}/api/v1/slis"
    yield f"  metrics   {at}:{settings.metrics_port}/metrics"
    yield f"  events    {at}:{settings.collector_port}/api/v1/lineage"
    for asked in _COMMANDS:
        yield f"  lineward {asked} --data-dir {settings.data_dir}"
