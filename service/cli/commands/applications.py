"""`lineward applications`: jobs that run as SparkApplications, and whether they report lineage."""

from typing import Annotated

import typer
from rich.console import RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    escape_markup,
    local_time,
    owner_text,
    show_answer,
    table_or_text,
    wrapping_table,
)
from service.queries.applications import MOST_APPLICATIONS, ApplicationList, list_applications
from service.queries.catalog_session import open_session
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: DataDir = None,
    *,
    without_listener: Annotated[
        bool,
        typer.Option(
            "--without-listener", help="Only applications without the OpenLineage listener."
        ),
    ] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only applications that failed.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_APPLICATIONS, help="Maximum number of applications.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List the last SparkApplication of each job that Kubernetes runs, newest first."""
    with open_session(read_settings(data_dir)) as asked:
        answer = list_applications(
            asked.reader, without_listener=without_listener, failed=failed, limit=limit
        )
    show_answer(answer, applications_table, as_json=as_json)


def applications_table(answer: ApplicationList) -> RenderableType:
    """Draw one line for each job."""
    shown = wrapping_table(
        "submitted", "application", "job", "state", "listener", "owner", "problem"
    )
    for row in answer.applications:
        cells = (
            local_time(row.submitted_at),
            f"{row.kube_namespace}/{row.name}",
            row.job_name,
            row.state,
            row.listener,
            owner_text(row.owner),
            row.problem or "-",
        )
        shown.add_row(*map(escape_markup, cells))
    return table_or_text(shown, "no SparkApplication matches")
