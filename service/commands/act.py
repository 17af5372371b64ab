"""`lineward act NAME …`: what a runbook says to do; prints the plan, and does it with --yes."""

import getpass
from pathlib import Path
from typing import Annotated, Any

import typer

from service.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.settings import read
from service.terminal import clean, plain_lines, print_json

app = typer.Typer(add_completion=False)
_REFUSED = 6
_Yes = Annotated[
    bool, typer.Option("--yes", help="Do it. Without --yes: a dry run, which only prints the plan.")
]


@app.callback()
def act() -> None:
    """Do what a runbook says. Without --yes each command is a dry run: it only prints the plan."""


@app.command()
def replay(  # noqa: PLR0913 - each is an option of the command
    *,
    start: Annotated[
        str | None, typer.Option("--from", help="ISO 8601 with a zone. Inclusive.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Exclusive; now, if not given.")] = None,
    run: Annotated[str | None, typer.Option(help="A run, or a root run with all of its.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Post events of the lake again, of a time or a run: what is known is not doubled."""
    given = {"from": _zoned(start), "to": _zoned(end), "run": run}
    _act("replay", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_rejected(
    numbers: Annotated[list[int] | None, typer.Argument(help="Of the plan; else all.")] = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Of this reason alone.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Post events again that the collector refused; what it refuses again stays."""
    given = {"reason": reason, "numbers": numbers or None}
    _act("requeue-rejected", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_notifications(
    channel: Annotated[str, typer.Argument(help="As slack:C0123ABCD or pagerduty:keys/shop.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send failed notifications of a channel again, say with a new token."""
    given = {"channel": channel}
    _act("requeue-notifications", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def requeue_set_aside(
    numbers: Annotated[list[int] | None, typer.Argument(help="Of the plan; else all.")] = None,
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Post events again that the pipeline set aside because they failed alone."""
    given = {"numbers": numbers or None}
    _act("requeue-set-aside", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def reinfer(
    run: Annotated[str, typer.Argument(help="Run id; a root run's is whole.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Tell what a run's event log and SQL say that its job reads and writes."""
    _act("reinfer", {"run": run}, data_dir, yes=yes, as_json=as_json)


@app.command()
def resubmit(
    application: Annotated[str, typer.Argument(help="Of Kubernetes: namespace/name.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run a SparkApplication that has ended once more, as a copy."""
    namespace, _, name = application.rpartition("/")
    given = {"namespace": namespace or "default", "name": name}
    _act("resubmit", given, data_dir, yes=yes, as_json=as_json)


@app.command()
def restart_role(
    role: Annotated[str, typer.Argument(help="As `lineward status` names it.")],
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Have `lineward up` stop one of its roles and start it again."""
    _act("restart-role", {"role": role}, data_dir, yes=yes, as_json=as_json)


@app.command()
def notify_downstream(  # noqa: PLR0913 - each is an option of the command
    dataset: DatasetName = "",
    *,
    note: Annotated[str, typer.Option(help="What they are told.")],
    namespace: Namespace = None,
    incident: Annotated[str | None, typer.Option(help="Of its roots, not of a dataset.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send each owner downstream one notice, with their own datasets; it rings nobody."""
    given = {"dataset": dataset or None, "dataset_namespace": namespace, "incident": incident}
    _act("notify-downstream", {**given, "note": note}, data_dir, yes=yes, as_json=as_json)


@app.command()
def open_suppression(  # noqa: PLR0913 - each is an option of the command
    pattern: Annotated[str, typer.Argument(help="Over namespace/name, as in the policy's match.")],
    *,
    until: Annotated[str, typer.Option(help="ISO 8601 with a zone.")],
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit log.")],
    start: Annotated[str | None, typer.Option("--from", help="Now, if not given.")] = None,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Open a window in which what matches opens no incident."""
    given = {"pattern": pattern, "until": _zoned(until), "from": _zoned(start), "name": name}
    _act("open-suppression", {**given, "reason": reason}, data_dir, yes=yes, as_json=as_json)


def _zoned(text: str | None) -> str | None:
    """A day alone is its first instant, in UTC."""
    return f"{text}T00:00:00Z" if text and len(text) == len("2026-11-21") else text


def _act(
    name: str, given: dict[str, Any], data_dir: Path | None, *, yes: bool, as_json: bool
) -> None:
    from service.acting.asked import Asker, act  # noqa: PLC0415 - SQLAlchemy once it is asked

    arguments = {field: value for field, value in given.items() if value is not None}
    asker = Asker(who=getpass.getuser(), via="cli")
    answer = act(read(data_dir), name, arguments, asker, is_dry=not yes)
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
        raise typer.Exit(_REFUSED)
