"""The command line: `lineward COMMAND`. Each command's module is imported when it is called for.

A command that asks answers in half a second, of which Python and typer take a third: so nothing
that Spark, SQLAlchemy or the web server needs is imported before its command is known.
"""

import importlib
import os
import sys
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from lineage.environment import InvalidSettingError
from service.errors import ServiceError
from service.terminal import warn

_ROLES = "service.commands.roles"
_INCIDENT = "service.commands.incident"
_SUPPRESSION = "service.commands.suppression"
_OF_SEVERAL = {_ROLES, _INCIDENT, _SUPPRESSION}  # modules that hold more than one command
_COMMANDS = {
    "up": "service.commands.up",
    "status": "service.commands.status",
    "slis": "service.commands.slis",
    "datasets": "service.commands.datasets",
    "lineage": "service.commands.lineage",
    "impact": "service.commands.impact",
    "why": "service.commands.why",
    "incidents": "service.commands.incidents",
    "lint": "service.commands.lint",
    "diff": "service.commands.diff",
    "history": "service.commands.history",
    "policy": "service.commands.policy",
    "backfill": "service.commands.backfill",
    "marquez": "service.commands.marquez",
    "act": "service.commands.act",
    "render": "service.commands.render",
    "dashboards": "service.commands.dashboards",
    "ship": "service.commands.ship",
    "ack": _INCIDENT,
    "resolve": _INCIDENT,
    "escalate": _INCIDENT,
    "false-alarm": _INCIDENT,
    "suppress": _SUPPRESSION,
    "unsuppress": _SUPPRESSION,
    "suppressions": _SUPPRESSION,
    "audit": "service.commands.audit",
    "retire": "service.commands.retire",
    "bench": "service.commands.bench",
    "demo": "service.commands.demo",
    "gameday": "service.commands.gameday",
    "collector": _ROLES,
    "pipeline": _ROLES,
    "service": _ROLES,
    "kafka": _ROLES,
    "version": "service.commands.version",
}


class LazyGroup(TyperGroup):
    """A group that knows its commands' names, and imports a command when it is called for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's private click
        """The commands in the order of a first acquaintance."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """The command, or None when there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(_COMMANDS[cmd_name])
        command: Any = typer.main.get_command(module.app)
        if module.__name__ in _OF_SEVERAL:
            command = command.commands[cmd_name]
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LazyGroup, pretty_exceptions_enable=False, add_completion=False, no_args_is_help=True
)


@app.callback()
def lineward() -> None:
    """SRE for data lineage: what is missing, stale or wrong, and who can fix it."""


def main() -> None:
    """Run the command line; a question without an answer ends with its documented exit code."""
    try:
        app()
    except ServiceError as error:
        warn(str(error))
        sys.exit(error.exit_code)
    except InvalidSettingError as error:
        warn(str(error))
        sys.exit(2)
    except BrokenPipeError:
        # The reader went away (`| head`): Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
