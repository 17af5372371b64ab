"""`lineward incidents|ack|resolve|escalate|false-alarm`: incidents, and actions on one of them."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType

from alerts.incidents.incident_text import event_text
from service.cli.commands.diff import error_text
from service.cli.commands.operator_name import operator_name
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    console,
    escape_markup,
    local_time,
    owner_text,
    print_json,
    show_answer,
    wrapping_table,
)
from service.incidents.diagnosis.ranking import Diagnosis, Difference
from service.queries.catalog_session import open_session
from service.queries.incident import load_incident
from service.queries.incident_shapes import IncidentDetail, IncidentPage, IncidentRow
from service.queries.incidents import list_incidents
from service.runtime.settings import Settings, read_settings

if TYPE_CHECKING:
    from alerts.operator_actions.command_requests import CommandAction

app = typer.Typer(add_completion=False)
_MOST_SHOWN = 50  # datasets of one incident

IncidentId = Annotated[
    str, typer.Argument(metavar="INCIDENT", help="Incident id: 16 hexadecimal digits.")
]
_Note = Annotated[str, typer.Option("--note", help="Reason, recorded in the audit log.")]
_DONE = {
    "acknowledge": "acknowledged",
    "suppress": "suppressed",
    "unsuppress": "no longer suppressed",
    "resolve": "resolved",
    "escalate": "escalated: the next step is notified",
    "false_alarm": "resolved as a false alarm",
}


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
    with open_session(read_settings(data_dir)) as asked:
        answer: IncidentPage | IncidentDetail = (
            list_incidents(asked.reader, is_over_too=is_over_too, limit=limit)
            if incident_id is None
            else load_incident(asked.reader, incident_id)
        )
    show_answer(answer, _drawn, as_json=as_json)


def _drawn(answer: IncidentPage | IncidentDetail) -> RenderableType:
    return incident_table(answer) if isinstance(answer, IncidentPage) else detail_tables(answer)


def incident_table(answer: IncidentPage) -> RenderableType:
    """Return a table with one line for each incident."""
    if not answer.incidents:
        return escape_markup("no incident is open")
    table = wrapping_table(
        "incident", "severity", "state", "detected", "owner", "what", "bad datasets"
    )
    for each in answer.incidents:
        detected = local_time(each.opened_at) if each.opened_at else "not yet"
        cells = (each.id, each.severity, _state(each), detected, owner_text(each.owner))
        table.add_row(
            *map(escape_markup, cells),
            escape_markup(each.what),
            escape_markup(f"{each.datasets:,}"),
        )
    return table


def _state(row: IncidentRow) -> str:
    also = [word for word, holds in (("frozen", row.frozen), ("flapping", row.flapping)) if holds]
    return ", ".join([row.state, *also])


def detail_tables(answer: IncidentDetail) -> RenderableType:
    """Return an incident as tables: its line, evidence, datasets and timeline."""
    row = answer.incident
    members = wrapping_table(
        "dataset", "tier", "owner", "problem", "since", "caused by", title="bad datasets"
    )
    for each in answer.members[:_MOST_SHOWN]:
        name = f"{each.dataset_namespace} {each.dataset}"
        over = " (recovered)" if each.left_at else ""
        by = each.explained_by or each.run_id or "-"
        cells = (
            name,
            each.tier,
            owner_text(each.owner),
            each.kind + over,
            local_time(each.onset),
            by,
        )
        members.add_row(*map(escape_markup, cells))
    timeline = wrapping_table("time", "event", "reason", "by", title="timeline")
    for step in answer.steps:
        timeline.add_row(
            *map(
                escape_markup,
                (local_time(step.at), event_text(step.what), step.reason, step.by or "-"),
            )
        )
    more = len(answer.members) - _MOST_SHOWN
    hidden = [escape_markup(f"… and {more:,} datasets more: --json lists them")] if more > 0 else []
    page = IncidentPage([row], 1, partial=False, partial_reason=None)
    times = "; ".join(f"{each.name} {local_time(each.at)}" for each in answer.times)
    shown = (
        incident_table(page),
        escape_markup(f"times: {times}"),
        *([escape_markup(f"evidence: {answer.evidence}")] if answer.evidence else []),
        *_diagnosis(answer.diagnosis),
        members,
        *hidden,
        timeline,
    )
    return Group(*shown)


def _diagnosis(found: Diagnosis | None) -> list[RenderableType]:
    """Return the last good run beside the first failed run, the likeliest cause first."""
    if found is None:
        return [escape_markup("No failed run has been compared with a successful run.")]
    title = "last successful run and first failed run"
    shown = wrapping_table("property", "successful run", "failed run", title=title)
    runs = Difference("run", found.good_run_id, found.failed_run_id)
    for each in (runs, *found.differences):
        shown.add_row(*map(escape_markup, (each.what, each.good or "-", each.failed or "-")))
    error = found.error_message
    return [shown, *([escape_markup(f"error: {error_text(error)}")] if error else [])]


@app.command()
def ack(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Acknowledge an incident; escalation stops."""
    request_action(read_settings(data_dir), incident, "acknowledge", note=note, as_json=as_json)


@app.command()
def resolve(
    incident: IncidentId,
    note: Annotated[str, typer.Option("--note", help="Reason, recorded in the audit log.")],
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Resolve an incident; it notifies again if its fault returns or a ticket becomes a page."""
    request_action(read_settings(data_dir), incident, "resolve", note=note, as_json=as_json)


@app.command()
def escalate(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Notify the next escalation step of the owner now."""
    request_action(read_settings(data_dir), incident, "escalate", note=note, as_json=as_json)


@app.command()
def false_alarm(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Resolve an incident, and count it as a false alarm of its kind of fault."""
    request_action(read_settings(data_dir), incident, "false_alarm", note=note, as_json=as_json)


def request_action(  # noqa: PLR0913 - the fields of a request
    settings: Settings,
    incident: str,
    action: "CommandAction",
    *,
    note: str = "",
    until: int | None = None,
    as_json: bool,
) -> None:
    """Request the action, and print its result.

    Raises:
        RequestError: the action is rejected.
    """
    with open_session(settings) as asked:  # that there is a catalog, before anything opens one
        now = asked.now
    from alerts.operator_actions.command_requests import CommandRequest  # noqa: PLC0415 - SQLAlchemy only once there is a catalog
    from service.incidents.incident_commands import await_outcome, put_command  # noqa: PLC0415 - as above

    by = operator_name()
    wanted = CommandRequest(
        incident_id=incident, action=action, by=by, via="cli", until=until, note=note
    )
    found = asyncio.run(await_outcome(settings, wanted, put_command(settings, wanted, now)))
    if as_json:
        print_json(found)
    elif found.is_done:
        console().print(escape_markup(f"{incident}: {_DONE[action]}"))
    else:
        console().print(escape_markup(f"{incident}: {found.detail}"))
