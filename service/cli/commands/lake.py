"""`lineward lake run RUN`, `lineward lake dataset DATASET`: runs that the catalog has deleted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from service.cli.commands.diff import error_text
from service.cli.commands.options import AsJson, DataDir, DatasetName, DatasetNamespace
from service.cli.terminal import (
    escape_markup,
    local_time,
    show_answer,
    state_markup,
    table_or_text,
    wrapping_table,
)
from service.queries.lake.reading import LakeRead
from service.queries.lake.recalled import LakeQuestion
from service.queries.lake.runs import (
    DatasetWindow,
    Direction,
    LakeRunAnswer,
    LakeRuns,
    dataset_runs_in_lake,
    run_in_lake,
)
from service.queries.run_shapes import RunDetail
from service.queries.timestamps import short_duration
from service.runtime.policies import read_accepted_policy
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_WHEN = "a day (2026-09-03) or a timestamp (2026-09-03T12:00:00Z), in UTC."
_Seconds = Annotated[float, typer.Option(min=1, help="Maximum time to read the lake, in seconds.")]


@app.callback()
def lake() -> None:
    """Find runs that the catalog has deleted, if the lake keeps events longer than the catalog.

    By default it does not: the catalog keeps runs for 180 days (LINEWARD_PIPELINE_WRITE_DAYS), and
    the lake keeps events for 90 days (retention_days of the policy).
    """


@app.command()
def run(  # noqa: PLR0913 - each is an option
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="Run id.")],
    *,
    first: Annotated[
        str | None,
        typer.Option("--from", help=f"Start: {_WHEN} Without it, the time in the run id."),
    ] = None,
    last: Annotated[str | None, typer.Option("--to", help=f"End: {_WHEN}")] = None,
    seconds: _Seconds = 300.0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show a run with what it read and wrote."""
    answer = run_in_lake(_asked(data_dir, seconds), run_id, first, last)
    show_answer(answer, whole_run, as_json=as_json)


@app.command()
def dataset(  # noqa: PLR0913 - each is an option
    dataset: DatasetName,
    namespace: DatasetNamespace = None,
    *,
    first: Annotated[str, typer.Option("--from", help=f"Start: {_WHEN}")],
    last: Annotated[str, typer.Option("--to", help=f"End: {_WHEN} A day counts to its end.")],
    direction: Annotated[
        Direction, typer.Option(help="Only runs that read the dataset, or wrote it.")
    ] = "both",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of runs.")] = 20,
    cursor: Annotated[str | None, typer.Option(help="`next_cursor` of the previous page.")] = None,
    seconds: _Seconds = 300.0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the runs that read or wrote a dataset in a window, newest first."""
    wanted = DatasetWindow(dataset, namespace, first, last, direction, limit, cursor)
    answer = dataset_runs_in_lake(_asked(data_dir, seconds), wanted)
    show_answer(answer, runs_text, as_json=as_json)


def _asked(data_dir: Path | None, seconds: float) -> LakeQuestion:
    settings = read_settings(data_dir)
    return LakeQuestion(settings, read_accepted_policy(settings), seconds=seconds)


def whole_run(answer: LakeRunAnswer) -> RenderableType:
    """Draw the runs of an id, one below the other."""
    return Group(*map(_run, answer.runs), _read(answer.read))


def _run(found: RunDetail) -> RenderableType:
    head = wrapping_table("", "")
    for name, value in (
        ("run", found.run_id),
        ("job", f"{found.job_namespace}/{found.job_name}"),
        ("root", f"{found.root_job_name}, run {found.root_run_id}"),
        ("status", found.status),
        ("started", local_time(found.started_at)),
        ("took", short_duration(found.duration_seconds)),
        ("error", error_text(found.error_message)),
        ("code version", found.code_version or "-"),
    ):
        head.add_row(name, state_markup(value) if name == "status" else escape_markup(value))
    datasets = wrapping_table("did", "dataset", "namespace", "rows", "version", "partition")
    for io in found.datasets:
        known = (io.rows, io.version, io.partition)
        texts = ("-" if value is None else str(value) for value in known)
        datasets.add_row(
            *map(escape_markup, (io.direction, io.dataset, io.dataset_namespace, *texts))
        )
    return Group(head, table_or_text(datasets, "no dataset is known that it read or wrote"))


def runs_text(answer: LakeRuns) -> RenderableType:
    """Draw one line for each run, with its inputs and outputs."""
    table = wrapping_table("run", "job", "status", "started", "read", "wrote")
    for found in answer.runs:
        names = (
            ", ".join(io.dataset for io in found.datasets if io.direction == direction) or "-"
            for direction in ("read", "write")
        )
        job = escape_markup(f"{found.job_namespace}/{found.job_name}")
        start = escape_markup(local_time(found.started_at))
        table.add_row(
            escape_markup(found.run_id),
            job,
            state_markup(found.status),
            start,
            *map(escape_markup, names),
        )
    none = f"no run that read or wrote {answer.dataset} is in the events that were read"
    cursor = [escape_markup(f"older: --cursor {answer.next_cursor}")] if answer.next_cursor else []
    return Group(table_or_text(table, none), *cursor, _read(answer.read))


def _read(read: LakeRead) -> RenderableType:
    text = (
        f"lake, days from {local_time(read.first_at)} to {local_time(read.last_at)}:"
        f" {read.events:,} events;"
        f" the lake begins on {read.lake_begins}"
    )
    if read.days_without_events:
        text += f"; no events of {', '.join(read.days_without_events)}"
    return escape_markup(text)
