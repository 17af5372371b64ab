"""`lineward backfill files PATH…`: recorded events, loaded as history."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from service.cli.commands.options import AsJson
from service.cli.terminal import console, escape_control, escape_markup, print_json, progress_bars
from service.ingest.backfill import BackfillReport, BatchSender, RecordedEvent, events_in, files_in
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_REJECTED = 6


@app.callback()
def backfill() -> None:
    """Load past events: cadences and lineage are learned at once, and no SLI counts them."""


@app.command()
def files(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders: JSONL, JSON, or .gz.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Send the events in these files to the running collector."""
    recordings = files_in(paths)
    sender = BatchSender(read_settings())
    sender.require_collector()
    with progress_bars(quiet=as_json) as bars:
        task = bars.add_task("files", total=len(recordings))
        for _ in sender.send(_all(recordings, lambda: bars.advance(task))):
            bars.update(task, description=f"{sender.report.taken:,} events taken")
    show_report(sender.report, as_json=as_json)
    if sender.report.rejected:
        raise typer.Exit(_REJECTED)


def _all(recordings: list[Path], on_file: Callable[[], None]) -> Iterator[RecordedEvent]:
    for recording in recordings:
        yield from events_in(recording)
        on_file()


def show_report(report: BackfillReport, *, as_json: bool) -> None:
    """Print the result of the backfill, as JSON or as text."""
    if as_json:
        print_json(report)
        return
    screen = console()
    screen.print(escape_markup(f"{report.taken:,} events accepted, {report.rejected:,} rejected"))
    for rejection in report.rejections:
        where = f"{escape_control(rejection.file)}:{rejection.position}"
        screen.print(escape_markup(f"  {where}: {rejection.reason}"))
    if report.partial_reason:
        screen.print(escape_markup(f"  {report.partial_reason}"))
