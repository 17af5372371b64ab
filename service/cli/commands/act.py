"""`lineward act NAME …`: actions of runbooks; prints the plan, and runs it with --yes."""

import getpass
from pathlib import Path
from typing import Annotated, Any

import typer

from service.cli.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.cli.terminal import clean, plain_lines, print_json
from service.runtime.settings import read

app = typer.Typer(add_completion=False)
_REJECTED = 6
_Yes = Annotated[
    bool,
    typer.Option("--yes", help="Run the action. Without --yes, print the plan only (dry run)."),
]


@app.callback()
def run() -> None:
    """Run an action of a runbook. Without --yes, print the plan only (dry run)."""


@app.command()
def replay(  # noqa: PLR0913 - each is an option of the command
    *,
    start: Annotated[
        str | None, typer.Option("--from", help="Start, ISO 8601 with time zone, inclusive.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="End, exclusive \\[now].")] = None,
    run: Annotated[
        str | None, typer.Option(help="Run id; a root run includes its children.")
    ] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send the lake's events of a time window or run again; known events are not counted twice."""
    given = {"from": _zoned(start), "to": _zoned(end), "run": run}
    _act("replay", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_rejected(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Numbers from the plan \\[all].")
    ] = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send rejected events again; events that are rejected again stay in the list."""
    given = {"reason": reason, "numbers": numbers or None}
    _act("requeue-rejected", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_notifications(
    channel: Annotated[
        str, typer.Argument(help="Channel, e.g. slack:C0123ABCD or pagerduty:keys/shop.")
    ],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send failed notifications of a channel again, for example after a new token."""
    given = {"channel": channel}
    _act("requeue-notifications", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_set_aside(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Numbers from the plan \\[all].")
    ] = None,
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send events again that the pipeline set aside."""
    given = {"numbers": numbers or None}
    _act("requeue-set-aside", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def reinfer(
    run: Annotated[str, typer.Argument(help="Run id; a root run includes its children.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Infer what the job of a run reads and writes from its event log and SQL."""
    _act("reinfer", {"run": run}, data_dir, yes=yes, as_json=as_json)


@app.command()
def resubmit(
    application: Annotated[str, typer.Argument(help="SparkApplication, as namespace/name.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run a finished SparkApplication again, as a copy."""
    namespace, _, name = application.rpartition("/")
    given = {"namespace": namespace or "default", "name": name}
    _act("resubmit", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def restart_role(
    role: Annotated[str, typer.Argument(help="Role, as listed by `lineward status`.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Restart one role of `lineward up`."""
    _act("restart-role", {"role": role}, data_dir, yes=yes, as_json=as_json)


@app.command()
def notify_downstream(  # noqa: PLR0913 - each is an option of the command
    dataset: DatasetName = "",
    *,
    note: Annotated[str, typer.Option(help="Text of the message.")],
    namespace: Namespace = None,
    incident: Annotated[
        str | None, typer.Option(help="Use the roots of this incident instead of a dataset.")
    ] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send each downstream owner one notice about their datasets; nobody is paged."""
    given = {"dataset": dataset or None, "dataset_namespace": namespace, "incident": incident}
    _act("notify-downstream", {**given, "note": note}, data_dir, yes=yes, as_json=as_json)


@app.command()
def open_suppression(  # noqa: PLR0913 - each is an option of the command
    pattern: Annotated[
        str, typer.Argument(help="Pattern for namespace/name, as in the policy's `match`.")
    ],
    *,
    until: Annotated[str, typer.Option(help="End, ISO 8601 with time zone.")],
    reason: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")],
    start: Annotated[str | None, typer.Option("--from", help="Start \\[now].")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the window.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Suppress incidents of matching datasets until a given time."""
    given = {"pattern": pattern, "until": _zoned(until), "from": _zoned(start), "name": name}
    _act("open-suppression", {**given, "reason": reason}, data_dir, yes=yes, as_json=as_json)


def _zoned(text: str | None) -> str | None:
    """Parse a date as its first moment, in UTC."""
    return f"{text}T00:00:00Z" if text and len(text) == len("2026-11-21") else text


def _act(
    name: str, given: dict[str, Any], data_dir: Path | None, *, yes: bool, as_json: bool
) -> None:
    from service.actions.action_runner import Requester, run  # noqa: PLC0415 - SQLAlchemy once it is asked

    arguments = {field: value for field, value in given.items() if value is not None}
    asker = Requester(who=getpass.getuser(), via="cli")
    answer = run(read(data_dir), name, arguments, asker, is_dry=not yes)
    done = answer.done
    if as_json:
        print_json(answer)
    elif done is None:
        plain_lines(["dry run, would:", *(f"  {line}" for line in answer.plan.does)])
        plain_lines(f"  note: {line}" for line in answer.plan.cautions)
        plain_lines(["dry run: nothing was done; add --yes to do it"])
    else:
        plain_lines(clean(line) for line in done.did)
    if done is not None and not done.is_whole:
        raise typer.Exit(_REJECTED)
