"""`lineward diff RUN RUN`: differences between two runs."""

import re
from typing import Annotated, Final

import typer
from rich.console import RenderableType

from lineage.errors import InvalidRequestError
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, local_time, show_answer, wrapping_table
from service.queries.catalog_session import open_session
from service.queries.diff import (
    DatasetDiff,
    RunDiff,
    ValueChange,
    compare_runs,
    last_good_and_failed,
)
from service.queries.run_snapshot import ComparedRun
from service.queries.schema_changes import describe_changes
from service.queries.timestamps import short_duration
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_RAISED: Final = re.compile(r"[\w.]+(Error|Exception|Interrupt)\b")
_Run = Annotated[
    str | None, typer.Argument(metavar="RUN", help="Run id; a root run includes its children.")
]


@app.command()
def main(  # noqa: PLR0913 - each is an option
    first: _Run = None,
    second: _Run = None,
    *,
    job: Annotated[
        str | None,
        typer.Option(help="Compare the job's last success with the first failure after it."),
    ] = None,
    job_namespace: Annotated[str | None, typer.Option(help="Namespace of the job.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show the differences between two runs: code, settings, datasets, schemas and figures."""
    with open_session(read_settings(data_dir)) as asked:
        if job is not None and first is None:
            first, second = last_good_and_failed(asked.reader, job, job_namespace)
        if first is None or second is None:
            message = "name two runs, or a job with --job"
            raise InvalidRequestError(message)
        answer = compare_runs(asked.reader, first, second)
    show_answer(answer, diff_table, as_json=as_json)


def diff_table(answer: RunDiff) -> RenderableType:
    """Return both runs side by side, and their differences below."""
    shown = wrapping_table("", "first", "second")
    for name, values in _heads(answer.first, answer.second):
        shown.add_row(*map(escape_markup, (name, *values)))
    shown.add_section()
    for change in answer.changes:
        shown.add_row(*map(escape_markup, _cells(change.what, change)))
    for dataset in answer.datasets:
        for row in _dataset(dataset):
            shown.add_row(*map(escape_markup, row))
    if answer.same:
        shown.add_row(escape_markup("no differences reported"), "", "")
    return shown


def _heads(*runs: ComparedRun) -> list[tuple[str, list[str]]]:
    lengths = [short_duration(r.duration_seconds) for r in runs]
    return [
        ("run", [run.run_id for run in runs]),
        ("job", [f"{run.job_namespace}/{run.job_name}" for run in runs]),
        ("state", [run.status for run in runs]),
        ("started", [local_time(run.started_at) for run in runs]),
        ("took", lengths),
        ("error", [error_text(run.error_message) for run in runs]),
    ]


def error_text(message: str | None) -> str:
    """Return the first line, and the last line of a Python error, which has its reason."""
    if message is None:
        return "-"
    first, *others = message.strip().splitlines() or [""]
    raised = [line.strip() for line in others if _RAISED.match(line)]
    return f"{first} {raised[-1]}" if raised else first


def _cells(what: str, change: ValueChange) -> tuple[str, str, str]:
    return what, change.first or "-", change.second or "-"


def _dataset(found: DatasetDiff) -> list[tuple[str, str, str]]:
    name = f"{found.direction} {found.dataset}"
    if found.only_in is not None:
        is_first = found.only_in == "first"
        return [(name, "yes" if is_first else "no", "no" if is_first else "yes")]
    rows = [_cells(f"{name}: {change.what}", change) for change in found.changes]
    if found.schema is not None:
        rows += [(f"{name}: schema", "", change) for change in describe_changes(found.schema)]
    return rows
