"""`lineward act NAME …`: actions of runbooks; prints the plan, and runs it with --yes."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Annotated, Any

import typer

from runbooks.actions.summaries import SUMMARIES
from service.cli.commands.operator_name import operator_name
from service.cli.commands.options import AsJson, DataDir, DatasetName, DatasetNamespace
from service.cli.terminal import escape_control, plain_lines, print_json
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_REJECTED = 6
_Yes = Annotated[
    bool,
    typer.Option("--yes", help="Run the action. Without --yes, print the plan only (dry run)."),
]
_Arguments = dict[str, Any]  # of an action; None: not given


def _act(
    name: str,
    given: _Arguments,
    *,
    data_dir: DataDir = None,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    from service.actions.action_runner import Requester, run_action  # noqa: PLC0415 - SQLAlchemy once it is asked

    arguments = {field: value for field, value in given.items() if value is not None}
    asker = Requester(who=operator_name(), via="cli")
    answer = run_action(read_settings(data_dir), name, arguments, asker, is_dry=not yes)
    done = answer.done
    if as_json:
        print_json(answer)
    elif done is None:
        plain_lines(["dry run, would:", *(f"  {line}" for line in answer.plan.does)])
        plain_lines(f"  note: {line}" for line in answer.plan.cautions)
        plain_lines(["dry run: nothing was done; add --yes to do it"])
    else:
        plain_lines(escape_control(line) for line in done.did)
    if done is not None and not done.is_whole:
        raise typer.Exit(_REJECTED)


# The options that every action has.
_COMMON = [each for each in signature(_act).parameters.values() if each.kind is each.KEYWORD_ONLY]


def _action(arguments_of: Callable[..., _Arguments]) -> Callable[..., _Arguments]:
    """Add the command of the action of this name, with the options that all actions have."""
    name = arguments_of.__name__.replace("_", "-")

    @wraps(arguments_of)
    def command(**given: Any) -> None:  # noqa: ANN401 - options of any type
        common = {each.name: given.pop(each.name) for each in _COMMON}
        _act(name, arguments_of(**given), **common)

    own = signature(arguments_of)
    parameters = [*own.parameters.values(), *_COMMON]
    command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    app.command(name, help=SUMMARIES[name])(command)
    return arguments_of


@app.callback()
def run() -> None:
    """Run an action of a runbook. Without --yes, print the plan only (dry run)."""


@_action
def replay(
    *,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Start by the time in the events, ISO 8601 with time zone, inclusive."
            " Begin earlier if files were shipped late.",
        ),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="End, exclusive \\[now].")] = None,
    run: Annotated[
        str | None, typer.Option(help="Run id; a root run includes its children.")
    ] = None,
) -> _Arguments:
    """Return the arguments of `replay`."""
    return {"from": _zoned(start), "to": _zoned(end), "run": run}


@_action
def requeue_rejected(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Numbers from the plan \\[all].")
    ] = None,
    *,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
) -> _Arguments:
    """Return the arguments of `requeue-rejected`."""
    return {"reason": reason, "numbers": numbers or None}


@_action
def requeue_notifications(
    channel: Annotated[
        str, typer.Argument(help="Channel, e.g. slack:C0123ABCD or pagerduty:keys/shop.")
    ],
) -> _Arguments:
    """Return the arguments of `requeue-notifications`."""
    return {"channel": channel}


@_action
def requeue_set_aside(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Numbers from the plan \\[all].")
    ] = None,
) -> _Arguments:
    """Return the arguments of `requeue-set-aside`."""
    return {"numbers": numbers or None}


@_action
def reinfer(
    run: Annotated[str, typer.Argument(help="Run id; a root run includes its children.")],
) -> _Arguments:
    """Return the arguments of `reinfer`."""
    return {"run": run}


@_action
def resubmit(
    application: Annotated[str, typer.Argument(help="SparkApplication, as namespace/name.")],
) -> _Arguments:
    """Return the arguments of `resubmit`."""
    namespace, _, name = application.rpartition("/")
    return {"namespace": namespace or "default", "name": name}


@_action
def restart_role(
    role: Annotated[str, typer.Argument(help="Role, as listed by `lineward status`.")],
) -> _Arguments:
    """Return the arguments of `restart-role`."""
    return {"role": role}


@_action
def remove_collector(
    name: Annotated[
        str, typer.Argument(help="Silent collector; a wrong name lists the silent ones.")
    ],
) -> _Arguments:
    """Return the arguments of `remove-collector`."""
    return {"name": name}


@_action
def notify_downstream(
    dataset: DatasetName = "",
    *,
    note: Annotated[str, typer.Option(help="Text of the message.")],
    namespace: DatasetNamespace = None,
    incident: Annotated[
        str | None, typer.Option(help="Use the roots of this incident instead of a dataset.")
    ] = None,
) -> _Arguments:
    """Return the arguments of `notify-downstream`."""
    given = {"dataset": dataset or None, "dataset_namespace": namespace, "incident": incident}
    return {**given, "note": note}


@_action
def open_suppression(  # noqa: PLR0913 - each is an option
    pattern: Annotated[
        str, typer.Argument(help="Pattern for namespace/name, as in the policy's `match`.")
    ],
    *,
    until: Annotated[str, typer.Option(help="End, ISO 8601 with time zone.")],
    reason: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")],
    start: Annotated[str | None, typer.Option("--from", help="Start \\[now].")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the window.")] = None,
    allow_no_match: Annotated[
        bool, typer.Option("--allow-no-match", help="Open it although nothing matches now.")
    ] = False,
) -> _Arguments:
    """Return the arguments of `open-suppression`."""
    given = {"pattern": pattern, "until": _zoned(until), "from": _zoned(start), "name": name}
    return {**given, "reason": reason, "allow_no_match": allow_no_match}


def _zoned(text: str | None) -> str | None:
    """Parse a date as its first moment, in UTC."""
    return f"{text}T00:00:00Z" if text and len(text) == len("2026-11-21") else text
