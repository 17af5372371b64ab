"""What the help of a command promises: examples that run as pasted, and names to complete."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from service.cli.commands.known import COMMANDS
from service.cli.main import app
from tests.service import shop
from tests.service.commandline import environ, lineward

EXAMPLES = [line for known in COMMANDS.values() for line in known.examples]


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_taken_as_it_stands(line):
    """Every word of it: command, subcommand, options, values. None of it is carried out."""
    command = typer.main.get_command(app)
    words = shlex.split(line)
    context = command.make_context("lineward", [], resilient_parsing=True)
    while words and hasattr(command, "commands") | hasattr(command, "get_command"):
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, words = found, words[1:]
        context = command.make_context(command.name, list(words), parent=context)
        words = context._protected_args + context.args  # noqa: SLF001 - what a group has not taken

    assert words == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_its_examples(name):
    """Under its options, and what its exit codes mean; completion is the whole command line's."""
    group = typer.main.get_command(app)
    command = group.get_command(None, name)

    assert COMMANDS[name].examples
    for line in COMMANDS[name].examples:
        assert f"lineward {line}" in command.epilog
    assert "Exit codes: 0 done" in command.epilog
    assert command.rich_help_panel
    assert not [one for one in command.params if "completion" in one.name]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_part_of_a_command_has_an_example_of_its_own(name):
    """`policy check` that of a check, and not of what else there is."""
    command = typer.main.get_command(app).get_command(None, name)

    for part, each in getattr(command, "commands", {}).items():
        shown = [line for line in each.epilog.splitlines() if line.startswith("  lineward ")]
        assert shown, f"{name} {part}"
        assert all(f"lineward {name} {part}" in line for line in shown)
        assert "Exit codes: 0 done" in each.epilog


def test_an_example_is_shown_as_it_is_typed():
    """On a line of its own."""
    shown = lineward("lineage", "--help", COLUMNS="100").stdout

    assert "lineward lineage core.orders --depth 2" in [line.strip() for line in shown.splitlines()]


def _completed(line: str, **variables: str) -> list[str]:
    """What bash is offered at the end of this line."""
    asked = {
        "_LINEWARD_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(shlex.split(line)) - 1),
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lineward"))],
        env=environ(**asked, **variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.split()


def test_commands_and_datasets_are_completed(embedded):
    """A command by its beginning, a dataset by that of its name or of its last part."""
    shop.fill(embedded)
    url = {"LINEWARD_CATALOG_URL": embedded.url.render_as_string(hide_password=False)}

    assert _completed("lineward li") == ["lineage", "lint"]
    assert _completed("lineward why core", **url) == ["core/orders"]
    assert "core/orders" not in _completed("lineward why zzz", **url)


def test_a_name_that_a_shell_would_obey_is_not_offered(embedded):
    """Nor one that needs quotes: names are from events, and the line may be sent at once."""
    shop.fill(embedded)
    for name in ("core/$(reboot)", "core/a b", "core/x;y", "core/\u202eevil", "core/fine"):
        shop.add_dataset(embedded, shop.NAMESPACE, name)
    url = embedded.url.render_as_string(hide_password=False)

    assert _completed("lineward why core", LINEWARD_CATALOG_URL=url) == ["core/fine", "core/orders"]


@pytest.mark.parametrize(("variables", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_left_out_where_nobody_wants_them(embedded, variables, is_coloured):
    """A pipe has none of itself; NO_COLOR wins over whoever forces them."""
    shop.fill(embedded)
    shown = lineward("why", "core/orders", catalog=embedded, FORCE_COLOR="1", **variables).stdout

    assert ("\x1b[1;31m" in shown) is is_coloured
    assert "\x1b[" not in lineward("why", "core/orders", catalog=embedded).stdout


def test_without_a_catalog_nothing_is_offered_and_nothing_is_said(tmp_path):
    """Whoever presses the key asked no question."""
    assert _completed("lineward why x", LINEWARD_DATA_DIR=str(tmp_path)) == []
