"""`lineward set-aside`: events that the pipeline set aside because they failed alone."""

from typing import Annotated

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, filled, grid, local, show
from service.queries.catalog_session import open_session
from service.queries.set_aside import MOST_SET_ASIDE, SetAsidePage, set_aside_events
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def set_aside(
    data_dir: DataDir = None,
    *,
    with_requeued: Annotated[bool, typer.Option("--all", help="Include requeued events.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST_SET_ASIDE, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List events that the pipeline set aside because they failed, newest first."""
    with open_session(read(data_dir)) as asked:
        answer = set_aside_events(asked.reader, with_requeued=with_requeued, limit=limit)
    show(answer, set_aside_table, as_json=as_json)


def set_aside_table(answer: SetAsidePage) -> RenderableType:
    """Draw the events for people."""
    shown = grid("event", "set aside", "error", "bytes", "job", "run", "producer", "requeued")
    for event in answer.events:
        job = "/".join(filter(None, (event.job_namespace, event.job_name)))
        cells = (
            f"#{event.spool_seq}",
            local(event.failed_at),
            event.error,
            f"{event.bytes:,}",
            *(text or "-" for text in (job, event.run_id, event.producer)),
            local(event.requeued_at),
        )
        shown.add_row(*map(escape_markup, cells))
    return filled(shown, "no events are set aside")
