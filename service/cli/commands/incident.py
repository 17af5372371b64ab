"""`lineward ack|resolve|escalate|false-alarm INCIDENT`: actions on an incident."""

import asyncio
import getpass
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import console, escape_markup, print_json
from service.queries.catalog_session import open_session
from service.runtime.settings import Settings, read

if TYPE_CHECKING:
    from alerts.operator_actions.command_requests import Action

app = typer.Typer(add_completion=False)

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
def ack(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Acknowledge an incident; escalation stops."""
    do(read(data_dir), incident, "acknowledge", note=note, as_json=as_json)


@app.command()
def resolve(
    incident: IncidentId,
    note: Annotated[str, typer.Option("--note", help="Reason, recorded in the audit log.")],
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Resolve an incident; it stays quiet until it recovers or another dataset fails."""
    do(read(data_dir), incident, "resolve", note=note, as_json=as_json)


@app.command()
def escalate(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Notify the next escalation step of the owner now."""
    do(read(data_dir), incident, "escalate", note=note, as_json=as_json)


@app.command()
def false_alarm(
    incident: IncidentId, note: _Note = "", data_dir: DataDir = None, *, as_json: AsJson = False
) -> None:
    """Resolve an incident as a false alarm, and count it against its kind of fault."""
    do(read(data_dir), incident, "false_alarm", note=note, as_json=as_json)


def do(  # noqa: PLR0913 - what an ask is made of
    settings: Settings,
    incident: str,
    action: "Action",
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
    from service.incidents.incident_commands import outcome, put  # noqa: PLC0415 - as above

    by = getpass.getuser()
    wanted = CommandRequest(
        incident_id=incident, action=action, by=by, via="cli", until=until, note=note
    )
    found = asyncio.run(outcome(settings, wanted, put(settings, wanted, now)))
    if as_json:
        print_json(found)
    elif found.is_done:
        console().print(escape_markup(f"{incident}: {_DONE[action]}"))
    else:
        console().print(escape_markup(f"{incident}: {found.detail}"))
