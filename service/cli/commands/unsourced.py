"""`lineward unsourced`: datasets that were read without a known write (M5)."""

from typing import Annotated

import typer
from rich.console import RenderableType

from lineage.process.clock import system_clock
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, filled, grid, local, show
from service.queries.catalog_session import open_session
from service.queries.unsourced import MOST_HOURS, MOST_LISTED, UnsourcedReads, unsourced_reads
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def unsourced(
    data_dir: DataDir = None,
    *,
    hours: Annotated[int, typer.Option(min=1, max=MOST_HOURS, help="Number of past hours.")] = 24,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List datasets that were read without a known write, most readers first."""
    with open_session(read(data_dir)) as asked:
        answer = unsourced_reads(asked.reader, system_clock(), hours=hours, limit=limit)
    show(answer, unsourced_table, as_json=as_json)


def unsourced_table(answer: UnsourcedReads) -> RenderableType:
    """Draw one line for each dataset."""
    shown = grid("readers", "reads", "dataset", "tier", "owner", "last read", "read by")
    for row in answer.datasets:
        more = row.readers - len(row.job_names)
        by = ", ".join([*row.job_names, *([f"and {more} more"] if more else [])])
        name = f"{row.dataset_namespace} {row.dataset}"
        cells = (row.readers, row.reads, name, row.tier, row.owner or "-", local(row.last_read_at))
        shown.add_row(*map(escape_markup, cells), escape_markup(by))
    return filled(shown, f"every dataset that was read in the last {answer.hours} h has a source")
