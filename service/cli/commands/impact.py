"""`lineward impact DATASET`: downstream datasets and their owners."""

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.cli.terminal import escape_markup, filled, grid, local, show, state
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.impact import Impact
from service.queries.impact import impact as find_impact
from service.queries.timestamps import duration
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def impact(
    dataset: DatasetName,
    namespace: Namespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show all downstream datasets with owners and tiers, most severe first."""
    with open_session(read(data_dir)) as asked:
        named = resolve_dataset(asked.reader, dataset, namespace)
        answer = find_impact(asked, named)
    show(answer, impact_table, as_json=as_json, prefix="incomplete: ")


def impact_table(answer: Impact) -> RenderableType:
    """Return the affected datasets as a table."""
    columns = ("tier", "dataset", "namespace", "owner", "state", "steps")
    shown = grid(*columns, title=_title(answer))
    for row in answer.affected:
        names = map(escape_markup, (row.tier, row.dataset, row.dataset_namespace, row.owner or "-"))
        shown.add_row(*names, state(row.state), escape_markup(row.depth))
    return filled(shown, _title(answer))


def _title(answer: Impact) -> str:
    number = len(answer.affected)
    count = "1 downstream dataset" if number == 1 else f"{number} downstream datasets"
    if answer.analysis_seconds is None:
        return count
    took = duration(answer.analysis_seconds)
    return f"{count}; fault at {local(answer.fault_at)}, page accepted {took} later"
