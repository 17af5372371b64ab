"""`lineward audit`, `lineward access-audit`: operator actions, and accesses to the API."""

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
from service.queries.audit import (
    MOST_AUDIT_ROWS,
    AccessFilters,
    AccessPage,
    AuditFilters,
    AuditPage,
    list_accesses,
    list_actions,
)
from service.queries.catalog_session import open_session
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)


@app.command()
def audit(
    data_dir: DataDir = None,
    *,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number.")] = 50,
    who: Annotated[str | None, typer.Option(help="Only this person.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only this action, e.g. `acknowledge`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List operator actions and their results, newest first."""
    with open_session(read_settings(data_dir)) as asked:
        answer = list_actions(asked.reader, AuditFilters(who, action), limit=limit)
    show_answer(answer, action_table, as_json=as_json, rows=answer.rows)


def action_table(answer: AuditPage) -> RenderableType:
    """Return the rows as a table."""
    shown = wrapping_table("time", "who", "via", "action", "detail", "result")
    for row in answer.rows:
        cells = (row.who, row.via or "", row.action, row.detail, row.answer or "")
        shown.add_row(escape_markup(local_time(row.at)), *map(escape_markup, cells))
    return table_or_text(shown, "no operator actions match")


@app.command()
def access_audit(  # noqa: PLR0913 - each is an option
    data_dir: DataDir = None,
    *,
    who: Annotated[str | None, typer.Option(help="Only this token name.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, e.g. `lineage`.")] = None,
    decision: Annotated[str | None, typer.Option(help="Only this decision: allow or deny.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_AUDIT_ROWS, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List accesses to the API and whether the policy allowed them, newest first."""
    with open_session(read_settings(data_dir)) as asked:
        answer = list_accesses(asked.reader, AccessFilters(who, action, decision), limit=limit)
    show_answer(answer, access_table, as_json=as_json)


def access_table(answer: AccessPage) -> RenderableType:
    """Draw one line for each access."""
    shown = wrapping_table(
        "id", "time", "who", "action", "subject", "namespaces", "decision", "status", "policy"
    )
    for row in answer.rows:
        decided = f"{row.decision}: {row.reason}" if row.reason else row.decision
        texts = (row.who or "-", row.action, row.subject, ", ".join(row.namespaces), decided)
        cells = (str(row.id), local_time(row.at), *texts, str(row.status), row.version[:8])
        shown.add_row(*map(escape_markup, cells))
    return table_or_text(shown, "no accesses are recorded: see `access` of the policy")
