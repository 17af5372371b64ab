"""`lineward slis`: the SLIs of each tier beside their objectives."""

import typer
from rich.console import RenderableType
from rich.text import Text

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, local_time, show_answer, wrapping_table
from service.queries.catalog_session import open_session
from service.queries.shapes import SliAnswer, SliRow
from service.queries.slis import is_met, list_slis, read_objectives
from service.runtime.settings import read_settings

_STYLES = {True: "green", False: "bold red", None: ""}  # by whether the objective is met
app = typer.Typer(add_completion=False)


@app.command()
def main(data_dir: DataDir = None, *, as_json: AsJson = False) -> None:
    """Show every SLI by tier, beside its objective."""
    settings = read_settings(data_dir)
    with open_session(settings) as asked:
        answer = list_slis(asked.reader, asked.evaluated, read_objectives(settings), now=asked.now)
    show_answer(answer, sli_table, as_json=as_json, rows=answer.slis)


def sli_table(answer: SliAnswer) -> RenderableType:
    """Return the SLIs as a table; a total of 0 reads as no data, never as 100 %."""
    columns = ("SLI", "name", "tier", "good", "total", "ratio", "objective")
    shown = wrapping_table(
        *columns, title=f"ratio of good, evaluated {local_time(answer.evaluated_at)}"
    )
    for row in answer.slis:
        cells = (row.id, row.name, row.tier, _count(row.good), _count(row.total))
        shown.add_row(
            *map(escape_markup, cells), _ratio(row), escape_markup(_percent(row.objective))
        )
    return shown


def _count(count: float | None) -> str:
    return "-" if count is None else f"{count:,.0f}"


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio * 100:.6g} %"


def _ratio(row: SliRow) -> Text:
    if row.ratio is None:
        return escape_markup("unknown" if row.total else "no data", "yellow")
    return escape_markup(_percent(row.ratio), _STYLES[is_met(row)])
