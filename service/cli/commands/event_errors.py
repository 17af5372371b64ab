"""`lineward rejected`, `lineward pipeline-errors`, `lineward set-aside`: events with errors."""

from typing import Annotated

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    escape_markup,
    local_time,
    show_answer,
    table_or_text,
    wrapping_table,
)
from service.errors import NoDataError
from service.queries.catalog_session import open_session
from service.queries.event_errors import (
    MOST_EVENT_ERRORS,
    PipelineErrorPage,
    RejectedPage,
    list_pipeline_errors,
    list_rejected_events,
)
from service.queries.set_aside import MOST_SET_ASIDE, SetAsidePage, list_set_aside_events
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_HEAD = 200  # characters of a body
_Limit = Annotated[int, typer.Option(min=1, max=MOST_EVENT_ERRORS, help="Maximum number.")]
_Reason = Annotated[str | None, typer.Option(help="Only this reason, e.g. `too_deep`.")]


@app.command("rejected")
def rejected(
    data_dir: DataDir = None, *, reason: _Reason = None, limit: _Limit = 50, as_json: AsJson = False
) -> None:
    """List events that the collector rejected, newest first."""
    spool = read_settings(data_dir).spool
    if not spool.is_file():
        raise NoDataError(f"no spool at {spool}: run this where the collector runs")
    answer = list_rejected_events(spool, reason=reason, limit=limit)
    show_answer(answer, rejected_table, as_json=as_json)


@app.command("pipeline-errors")
def pipeline_errors(
    data_dir: DataDir = None, *, reason: _Reason = None, limit: _Limit = 50, as_json: AsJson = False
) -> None:
    """List events that the pipeline could not read or read only in part, newest first."""
    settings = read_settings(data_dir)
    with open_session(settings) as asked:
        answer = list_pipeline_errors(asked.reader, settings.spool, reason=reason, limit=limit)
    show_answer(answer, error_table, as_json=as_json)


def rejected_table(answer: RejectedPage) -> RenderableType:
    """Draw one line for each rejected event."""
    shown = wrapping_table(
        "event", "received", "origin", "reason", "path", "detail", "bytes", "body"
    )
    for one in answer.events:
        numbers = (f"#{one.number}", local_time(one.received_at))
        texts = (one.origin, one.reason, one.path or "-", one.detail)
        shown.add_row(
            *map(escape_markup, (*numbers, *texts, f"{one.body_bytes:,}", _head(one.body)))
        )
    return table_or_text(shown, "no rejected events are stored")


def error_table(answer: PipelineErrorPage) -> RenderableType:
    """Draw one line for each error."""
    shown = wrapping_table("event", "landed", "reason", "detail", "body")
    for one in answer.errors:
        cells = (f"#{one.spool_seq}", local_time(one.landed_at), one.reason, one.detail)
        shown.add_row(
            *map(escape_markup, cells),
            escape_markup(_head(one.body) if one.body else "in the lake"),
        )
    return table_or_text(shown, "no pipeline errors are stored")


def _head(body: str) -> str:
    """Return as much as a line has room for: `--json` has more."""
    return body if len(body) <= _HEAD else f"{body[:_HEAD]}…"


@app.command()
def set_aside(
    data_dir: DataDir = None,
    *,
    with_requeued: Annotated[bool, typer.Option("--all", help="Include requeued events.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST_SET_ASIDE, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List events that the pipeline set aside because they failed, newest first."""
    with open_session(read_settings(data_dir)) as asked:
        answer = list_set_aside_events(asked.reader, with_requeued=with_requeued, limit=limit)
    show_answer(answer, set_aside_table, as_json=as_json)


def set_aside_table(answer: SetAsidePage) -> RenderableType:
    """Draw the events for people."""
    shown = wrapping_table(
        "event", "set aside", "error", "bytes", "job", "run", "producer", "requeued"
    )
    for event in answer.events:
        job = "/".join(filter(None, (event.job_namespace, event.job_name)))
        cells = (
            f"#{event.spool_seq}",
            local_time(event.failed_at),
            event.error,
            f"{event.bytes:,}",
            *(text or "-" for text in (job, event.run_id, event.producer)),
            local_time(event.requeued_at),
        )
        shown.add_row(*map(escape_markup, cells))
    return table_or_text(shown, "no events are set aside")
