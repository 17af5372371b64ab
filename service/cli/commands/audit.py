"""`lineward audit`: operator actions and their results."""

from typing import Annotated

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, filled, grid, local, show
from service.queries.audit import AuditFilters, AuditPage
from service.queries.audit import audit as find_actions
from service.queries.catalog_session import open_session
from service.runtime.settings import read

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
    with open_session(read(data_dir)) as asked:
        answer = find_actions(asked.reader, AuditFilters(who, action), limit=limit)
    show(answer, action_table, as_json=as_json, rows=answer.rows)


def action_table(answer: AuditPage) -> RenderableType:
    """Return the rows as a table."""
    shown = grid("time", "who", "via", "action", "detail", "result")
    for row in answer.rows:
        cells = (row.who, row.via or "", row.action, row.detail, row.answer or "")
        shown.add_row(escape_markup(local(row.at)), *map(escape_markup, cells))
    return filled(shown, "no operator actions match")
