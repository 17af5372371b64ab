"""`lineward incidents [ID]`: open incidents, or the details of one."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import escape_markup, grid, local, show
from service.queries.catalog_session import open_session
from service.queries.incident import incident as find_incident
from service.queries.incident_shapes import IncidentDetail, IncidentPage, IncidentRow
from service.queries.incidents import incidents as find_incidents
from service.runtime.settings import read

app = typer.Typer(add_completion=False)
_MOST_SHOWN = 50  # datasets of one incident


@app.command()
def incidents(
    incident_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show the details of this incident.")
    ] = None,
    data_dir: DataDir = None,
    *,
    is_over_too: Annotated[bool, typer.Option("--all", help="Include resolved incidents.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show incidents: one for each fault, with the number of bad datasets."""
    with open_session(read(data_dir)) as asked:
        answer: IncidentPage | IncidentDetail = (
            find_incidents(asked.reader, is_over_too=is_over_too, limit=limit)
            if incident_id is None
            else find_incident(asked.reader, incident_id)
        )
    show(answer, _drawn, as_json=as_json)


def _drawn(answer: IncidentPage | IncidentDetail) -> RenderableType:
    return listed(answer) if isinstance(answer, IncidentPage) else whole(answer)


def listed(answer: IncidentPage) -> RenderableType:
    """Return a table with one line for each incident."""
    if not answer.incidents:
        return escape_markup("no incident is open")
    table = grid("incident", "severity", "state", "detected", "owner", "what", "bad datasets")
    for each in answer.incidents:
        detected = local(each.opened_at) if each.opened_at else "not yet"
        cells = (each.id, each.severity, _state(each), detected, each.owner or "nobody")
        table.add_row(
            *map(escape_markup, cells),
            escape_markup(each.what),
            escape_markup(f"{each.datasets:,}"),
        )
    return table


def _state(row: IncidentRow) -> str:
    also = [word for word, holds in (("frozen", row.frozen), ("flapping", row.flapping)) if holds]
    return ", ".join([row.state, *also])


def whole(answer: IncidentDetail) -> RenderableType:
    """Return an incident's line, its reasons, its datasets and its history."""
    row = answer.incident
    members = grid(
        "dataset", "tier", "owner", "problem", "since", "caused by", title="bad datasets"
    )
    for each in answer.members[:_MOST_SHOWN]:
        name = f"{each.dataset_namespace} {each.dataset}"
        over = " (recovered)" if each.left_at else ""
        by = each.explained_by or each.run_id or "-"
        cells = (name, each.tier, each.owner or "-", each.kind + over, local(each.onset), by)
        members.add_row(*map(escape_markup, cells))
    timeline = grid("time", "event", "reason", "by", title="timeline")
    for step in answer.steps:
        timeline.add_row(
            *map(escape_markup, (local(step.at), step.what, step.reason, step.by or "-"))
        )
    more = len(answer.members) - _MOST_SHOWN
    hidden = [escape_markup(f"… and {more:,} datasets more: --json lists them")] if more > 0 else []
    page = IncidentPage([row], 1, partial=False, partial_reason=None)
    times = "; ".join(f"{each.name} {local(each.at)}" for each in answer.times)
    shown = (
        listed(page),
        escape_markup(times),
        escape_markup(answer.evidence),
        members,
        *hidden,
        timeline,
    )
    return Group(*shown)
