"""`lineward bench`: measurements, each figure beside its budget."""

import importlib
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from lineage.process.logs import log_to_stderr
from service.cli.commands.options import AsJson
from service.cli.terminal import console, escape_markup, print_json

app = typer.Typer(add_completion=False)


@app.callback()
def bench() -> None:
    """Measure on this machine; run nothing else meanwhile."""


@app.command()
def ingest(*, as_json: AsJson = False) -> None:
    """Measure durable acknowledgements per second, and their latency."""
    _show(_measured("lab.bench.ingest.ingest"), as_json=as_json)


@app.command()
def pipeline(
    *,
    sizes: Annotated[
        list[int] | None,
        typer.Option("--size", min=1, help="Events of a backlog; may be repeated."),
    ] = None,
    live_seconds: Annotated[
        int,
        typer.Option(
            min=0, help="Seconds during which 1,000 events a second arrive; 0 skips this part."
        ),
    ] = 60,
    catalog_url: Annotated[
        str | None,
        typer.Option(help="PostgreSQL in which schemas are created and deleted \\[SQLite]."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure event-to-catalog lag, catching up with a backlog, and cost per event."""
    given = {"sizes": sizes} if sizes else {}
    figures = _measured(
        "lab.bench.pipeline", live_seconds=live_seconds, catalog_url=catalog_url, **given
    )
    _show(figures, as_json=as_json)


@app.command()
def evaluate(*, as_json: AsJson = False) -> None:
    """Measure the evaluation of all SLIs over 100,000 datasets and 300,000 edges."""
    _show(_measured("lab.bench.evaluate"), as_json=as_json)


@app.command()
def evidence(
    *,
    mebibytes: Annotated[int, typer.Option(min=1, help="Size of the event log.")] = 1_024,
    as_json: AsJson = False,
) -> None:
    """Measure time and memory of reading a Spark event log."""
    _show(_measured("lab.bench.evidence", mebibytes=mebibytes), as_json=as_json)


@app.command()
def freshness(
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 1,
    datasets: Annotated[
        int, typer.Option(min=50, help="Number of datasets, a fifth of each class.")
    ] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Compare learned limits with two other rules on 180 simulated days."""
    _show(_measured("lab.bench.freshness", seed=seed, datasets=datasets), as_json=as_json)


@app.command()
def cadences(
    folder: Annotated[
        Path, typer.Argument(help="Folder with index.csv, labels.csv and one file per series.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare learned limits with two other rules on real publishing histories."""
    if not (folder / "index.csv").is_file():
        raise typer.BadParameter(f"{folder} has no index.csv: see docs/benchmarks.md")
    _show(_measured("lab.bench.cadences", folder=str(folder)), as_json=as_json)


@app.command()
def query(
    *,
    requests: Annotated[int, typer.Option(min=20, help="Requests of each kind, per phase.")] = 100,
    scale: Annotated[
        float, typer.Option(min=0.01, help="Scale of the simulated environments.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Measure queries and pages, alone and while 1,000 events a second change the graph."""
    _show(_measured("lab.bench.query.query", requests=requests, scale=scale), as_json=as_json)


@app.command()
def idle(
    *,
    rate: Annotated[float, typer.Option(min=0.1, help="Events a second of the second phase.")] = 2,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds of each phase.")] = 120,
    as_json: AsJson = False,
) -> None:
    """Measure cores and memory of all roles with 1,000 datasets, idle and with few events."""
    _show(_measured("lab.bench.idle", events_a_second=rate, seconds=seconds), as_json=as_json)


def _measured(module: str, **options: object) -> Any:  # noqa: ANN401 - each bench has figures of its own
    log_to_stderr("warning")
    return msgspec.to_builtins(importlib.import_module(module).run(**options))


def _show(figures: Any, *, as_json: bool) -> None:  # noqa: ANN401 - as above
    if as_json:
        print_json(figures)
        return
    screen = console()
    for shown in tables(figures):
        screen.print(shown)


def tables(figures: Any) -> list[Table]:  # noqa: ANN401 - as above
    """Return a table for the single figures, and one for each list of rows among them."""
    alone = {name: value for name, value in figures.items() if not _is_rows(value)}
    lists = [(name, value) for name, value in figures.items() if _is_rows(value)]
    return [
        *([figures_table(alone)] if alone else []),
        *(_grid(name, rows) for name, rows in lists),
    ]


def _is_rows(value: Any) -> bool:  # noqa: ANN401 - as above
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _grid(name: str, rows: list[dict[str, Any]]) -> Table:
    shown = Table(*rows[0], title=name)
    for row in rows:
        shown.add_row(*(escape_markup(_number(value)) for value in row.values()))
    return shown


def figures_table(figures: dict[str, Any]) -> Table:
    """Return a table with one row a figure; each has its budget beside it, where there is one."""
    shown = Table("figure", "measured", "budget")
    for name, value in figures.items():
        if not name.startswith("budget_"):
            budget = figures.get(f"budget_{name}", "")
            shown.add_row(*map(escape_markup, (name, _number(value), _number(budget))))
    return shown


def _number(value: Any) -> str:  # noqa: ANN401 - as above
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(_number, value))
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
