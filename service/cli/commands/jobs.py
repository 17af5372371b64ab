"""`lineward jobs`: jobs by their own names, each with its newest runs."""

from typing import Annotated

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, filled, grid, local, show, state
from service.queries.catalog_session import open_session
from service.queries.jobs import MOST_LISTED, JobPage
from service.queries.jobs import jobs as find_jobs
from service.queries.timestamps import duration
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def jobs(
    data_dir: DataDir = None,
    *,
    contains: Annotated[
        str | None, typer.Option(help="Only job names that contain this text.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_LISTED, help="Maximum number of jobs.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs with their last runs, including jobs without datasets."""
    with open_session(read(data_dir)) as asked:
        answer = find_jobs(asked.reader, contains=contains, limit=limit)
    show(answer, jobs_table, as_json=as_json)


def jobs_table(answer: JobPage) -> RenderableType:
    """Draw one line for each job, with its last run."""
    shown = grid("status", "job", "part of", "run", "started", "took", "error")
    for job in answer.jobs:
        last = job.runs[0]
        own, root = job.job_name, job.root_job_name
        cells = (
            f"{job.job_namespace}/{own}",
            "-" if root == own else root,
            last.run_id,
            local(last.started_at),
            duration(last.duration_seconds),
            last.error or "-",
        )
        shown.add_row(state(last.status), *map(escape_markup, cells))
    return filled(shown, "no jobs match")
