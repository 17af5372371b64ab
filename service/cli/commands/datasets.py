"""`lineward datasets`, `lineward unsourced`: datasets by state, and those without a known write."""

from typing import Annotated

import typer
from rich.console import RenderableType

from lineage.process.clock import system_clock
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    escape_markup,
    local_time,
    owner_text,
    show_answer,
    state_markup,
    table_or_text,
    warn,
    wrapping_table,
)
from service.queries.catalog_session import open_session
from service.queries.datasets import FURTHEST, Filters, ListPart, list_datasets
from service.queries.shapes import DatasetPage
from service.queries.timestamps import stale_warning
from service.queries.unsourced import MOST_HOURS, MOST_UNSOURCED, UnsourcedReads, unsourced_reads
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_SHOWN = 200


@app.command()
def datasets(  # noqa: PLR0913 - each is an option of the command
    data_dir: DataDir = None,
    *,
    only: Annotated[
        str | None,
        typer.Option("--state", help="Only this state: good, bad, failing, learning or unknown."),
    ] = None,
    tier: Annotated[str | None, typer.Option(help="critical, important or optional.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only datasets of this owner.")] = None,
    contains: Annotated[str | None, typer.Option(help="Only names that contain this text.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, max=FURTHEST, help="Maximum number, most severe first.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List datasets with reason and owner, most severe first."""
    filters = Filters(state=only, tier=tier, owner=owner, contains=contains)
    most = limit if as_json else limit or _SHOWN
    with open_session(read_settings(data_dir)) as asked:
        page = list_datasets(asked.reader, filters, asked.evaluated, ListPart(limit=most))
        if asked.evaluated.stale:
            warn(stale_warning(asked.evaluated))
    show_answer(
        page, datasets_table, as_json=as_json, prefix="more with --limit: ", rows=page.datasets
    )


def datasets_table(page: DatasetPage) -> RenderableType:
    """Return the datasets as a table."""
    columns = ("state", "dataset", "namespace", "why", "state since", "tier", "owner")
    shown = wrapping_table(*columns, title=f"{page.total:,} datasets")
    for row in page.datasets:
        why = " ".join(word for word in (row.sli, row.reason) if word) or "-"
        cells = (row.dataset, row.dataset_namespace, why, local_time(row.since), row.tier)
        shown.add_row(
            state_markup(row.state),
            *map(escape_markup, cells),
            escape_markup(owner_text(row.owner)),
        )
    return table_or_text(shown, "no datasets match")


@app.command()
def unsourced(
    data_dir: DataDir = None,
    *,
    hours: Annotated[int, typer.Option(min=1, max=MOST_HOURS, help="Number of past hours.")] = 24,
    limit: Annotated[int, typer.Option(min=1, max=MOST_UNSOURCED, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List datasets that were read without a known write, most readers first."""
    with open_session(read_settings(data_dir)) as asked:
        answer = unsourced_reads(asked.reader, system_clock(), hours=hours, limit=limit)
    show_answer(answer, unsourced_table, as_json=as_json)


def unsourced_table(answer: UnsourcedReads) -> RenderableType:
    """Draw one line for each dataset."""
    shown = wrapping_table("readers", "reads", "dataset", "tier", "owner", "last read", "read by")
    for row in answer.datasets:
        more = row.readers - len(row.job_names)
        by = ", ".join([*row.job_names, *([f"and {more} more"] if more else [])])
        name = f"{row.dataset_namespace} {row.dataset}"
        cells = (
            row.readers,
            row.reads,
            name,
            row.tier,
            owner_text(row.owner),
            local_time(row.last_read_at),
        )
        shown.add_row(*map(escape_markup, cells), escape_markup(by))
    return table_or_text(
        shown, f"every dataset that was read in the last {answer.hours} h has a source"
    )
