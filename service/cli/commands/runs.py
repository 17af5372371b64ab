"""`lineward runs DATASET`, `lineward jobs`: the newest runs of a dataset, and of each job."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType

from service.cli.commands.options import AsJson, DataDir, DatasetName, DatasetNamespace
from service.cli.terminal import (
    escape_markup,
    local_time,
    show_answer,
    state_markup,
    table_or_text,
    wrapping_table,
)
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.deleted_runs import where_older_runs_are
from service.queries.jobs import MOST_LISTED_JOBS, JobPage, find_jobs
from service.queries.run_shapes import RecentRuns
from service.queries.runs import recent_runs
from service.queries.timestamps import short_duration
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)


@app.command()
def runs(
    dataset: DatasetName,
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest runs that read or wrote a dataset."""
    with open_session(read_settings(data_dir)) as asked:
        named = resolve_dataset(asked.reader, dataset, namespace)
        answer = recent_runs(asked.reader, named, limit=limit)
    show_answer(answer, runs_table, as_json=as_json)


def runs_table(answer: RecentRuns) -> RenderableType:
    """Draw one line for each run, and where older ones are."""
    where = where_older_runs_are(answer.older)
    older = [escape_markup(where)] if where else []
    if not answer.runs:
        return Group(escape_markup("no run is known that read or wrote it"), *older)
    table = wrapping_table("run", "job", "did", "status", "started", "took")
    for run in answer.runs:
        job = escape_markup(f"{run.job_namespace}/{run.job_name}")
        times = (
            escape_markup(local_time(run.started_at)),
            escape_markup(short_duration(run.duration_seconds)),
        )
        table.add_row(
            escape_markup(run.run_id),
            job,
            escape_markup(run.direction),
            state_markup(run.status),
            *times,
        )
    return Group(table, *older)


@app.command()
def jobs(
    data_dir: DataDir = None,
    *,
    contains: Annotated[
        str | None, typer.Option(help="Only job names that contain this text.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_LISTED_JOBS, help="Maximum number of jobs.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs with their last runs, including jobs without datasets."""
    with open_session(read_settings(data_dir)) as asked:
        answer = find_jobs(asked.reader, contains=contains, limit=limit)
    show_answer(answer, jobs_table, as_json=as_json)


def jobs_table(answer: JobPage) -> RenderableType:
    """Draw one line for each job, with its last run."""
    shown = wrapping_table("status", "job", "part of", "run", "started", "took", "error")
    for job in answer.jobs:
        last = job.runs[0]
        own, root = job.job_name, job.root_job_name
        cells = (
            f"{job.job_namespace}/{own}",
            "-" if root == own else root,
            last.run_id,
            local_time(last.started_at),
            short_duration(last.duration_seconds),
            last.error or "-",
        )
        shown.add_row(state_markup(last.status), *map(escape_markup, cells))
    return table_or_text(shown, "no jobs match")
