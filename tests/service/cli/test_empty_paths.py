"""Empty paths on the command line, from variables that are not set."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from typer._click.exceptions import BadParameter  # nothing of typer's own re-exports it
from typer.models import TyperPath

from service.cli.commands.command_table import COMMANDS
from service.cli.main import app


def _paths() -> Iterator[tuple[str, Any]]:
    """Yield each parameter of a command or a subcommand that is a path."""
    for name in COMMANDS:
        command = typer.main.get_command(app).get_command(None, name)
        for part in (command, *getattr(command, "commands", {}).values()):
            for parameter in part.params:
                if isinstance(parameter.type, TyperPath):
                    yield f"{name} {part.name} {parameter.name}", parameter


PATHS = dict(_paths())


@pytest.mark.parametrize("name", PATHS)
def test_each_path_rejects_an_empty_text(name):
    """Reject it with a reason: `.` would be the working folder, or is no file."""
    with pytest.raises(BadParameter, match="the path is empty"):
        PATHS[name].type.convert("", PATHS[name], None)
    assert str(PATHS[name].type.convert("some/file", PATHS[name], None)) == "some/file"


def test_paths_of_commands_subcommands_and_lists_are_checked():
    """Find an argument, an option, a list, and a parameter of a subcommand."""
    known = {"ship ship folder", "slis slis data_dir", "backfill files paths", "policy check file"}

    assert known <= set(PATHS)


def test_an_empty_policy_is_wrong_usage():
    """Run the line of a runbook whose variable is not set."""
    command = typer.main.get_command(app)
    with pytest.raises(BadParameter, match="the path is empty"):
        command.main(["policy", "check", ""], standalone_mode=False)
