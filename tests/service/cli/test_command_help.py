"""Help of commands: examples that run as pasted, and completion of names."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from service.cli.commands.command_table import COMMANDS
from service.cli.main import app
from tests.service import shop
from tests.service.commandline import environ, lineward

EXAMPLES = [line for known in COMMANDS.values() for line in known.examples]


@pytest.mark.parametrize("line", EXAMPLES)
def test_each_example_is_parsed(line):
    """Parse command, subcommand, options and values without running them."""
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
    """Print examples and exit codes below the options, and hide the options for completion."""
    group = typer.main.get_command(app)
    command = group.get_command(None, name)

    assert COMMANDS[name].examples
    for line in COMMANDS[name].examples:
        assert f"lineward {line}" in command.epilog
    assert "Exit codes: 0 done" in command.epilog
    assert command.rich_help_panel
    assert not [one for one in command.params if "completion" in one.name]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_line_of_their_help(name):
    """Compare the table, which the list is written from, with the command."""
    command = typer.main.get_command(app).get_command(None, name)

    first = command.help.partition("\n\n")[0]
    assert COMMANDS[name].summary == " ".join(first.split())


def test_the_list_of_commands_imports_none():
    """List all commands without a module of one of them."""
    code = (
        "import sys; from service.cli.main import app; app(['--help'], standalone_mode=False);"
        "assert not [name for name in sys.modules if name.startswith('service.cli.commands.')"
        " and name != 'service.cli.commands.command_table'], sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert set(COMMANDS) <= set(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_subcommand_has_its_own_example(name):
    """Show in `policy check` only examples of a check."""
    command = typer.main.get_command(app).get_command(None, name)

    for part, each in getattr(command, "commands", {}).items():
        shown = [line for line in each.epilog.splitlines() if line.startswith("  lineward ")]
        assert shown, f"{name} {part}"
        assert all(f"lineward {name} {part}" in line for line in shown)
        assert "Exit codes: 0 done" in each.epilog


def test_an_example_is_shown_as_it_is_typed():
    """Print it on a line of its own."""
    shown = lineward("lineage", "--help", COLUMNS="100").stdout

    assert "lineward lineage core/orders --depth 2" in [line.strip() for line in shown.splitlines()]


def _complete(line: str, **variables: str) -> list[str]:
    """Return what bash completes at the end of this line."""
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
    """Complete a command by its beginning, and a dataset by that of its name or last part."""
    shop.fill(embedded)
    url = {"LINEWARD_CATALOG_URL": embedded.url.render_as_string(hide_password=False)}

    assert _complete("lineward li") == ["lint", "lineage"]
    assert _complete("lineward why core", **url) == ["core/orders"]
    assert "core/orders" not in _complete("lineward why zzz", **url)


def test_a_name_with_shell_syntax_is_not_completed(embedded):
    """Leave out names that need quotes: they come from events, and the line may run at once."""
    shop.fill(embedded)
    for name in ("core/$(reboot)", "core/a b", "core/x;y", "core/\u202eevil", "core/fine"):
        shop.add_dataset(embedded, shop.NAMESPACE, name)
    url = embedded.url.render_as_string(hide_password=False)

    assert _complete("lineward why core", LINEWARD_CATALOG_URL=url) == ["core/fine", "core/orders"]


@pytest.mark.parametrize(("variables", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_left_out_in_pipes_and_by_no_color(embedded, variables, is_coloured):
    """Print none into a pipe, and prefer NO_COLOR to FORCE_COLOR."""
    shop.fill(embedded)
    shown = lineward("why", "core/orders", catalog=embedded, FORCE_COLOR="1", **variables).stdout

    assert ("\x1b[1;31m" in shown) is is_coloured
    assert "\x1b[" not in lineward("why", "core/orders", catalog=embedded).stdout


def test_completion_without_a_catalog_is_silent(tmp_path):
    """Complete nothing and print no error."""
    assert _complete("lineward why x", LINEWARD_DATA_DIR=str(tmp_path)) == []


def _all_helps(command, path=()):
    """Yield the path and the texts of each command, with the texts of its parameters."""
    texts = [command.help, *(getattr(one, "help", None) for one in command.params)]
    yield " ".join(path), " ".join(filter(None, texts))
    for name in getattr(command, "list_commands", lambda _: [])(None):
        yield from _all_helps(command.get_command(None, name), (*path, name))


def test_no_help_has_a_section_for_developers():
    """Show users no part of a docstring that describes a function."""
    helps = dict(_all_helps(typer.main.get_command(app)))

    sections = ("Raises:", "Args:", "Returns:", "Yields:", "Attributes:")
    assert {path for path, text in helps.items() if any(one in text for one in sections)} == set()
    assert {"rejected", "policy check", "render spark-conf"} < set(helps)


@pytest.mark.parametrize("line", ["ship", "render spark-conf"])
def test_the_help_names_the_variables_of_the_collector_s_address(line):
    """Name existing variables, first the one that counts first."""
    shown = " ".join(lineward(*line.split(), "--help", COLUMNS="200").stdout.split())

    assert "[LINEWARD_COLLECTOR_URL, else this host and LINEWARD_COLLECTOR_PORT" in shown
    assert ("; with --kubernetes the chart's Service]." in shown) == (line != "ship")


def test_the_help_of_ship_calls_its_folder_by_one_name():
    """Use the name of the argument in the default of `--state`."""
    shown = " ".join(lineward("ship", "--help", COLUMNS="200").stdout.split())

    assert "ship [OPTIONS] {DIR}" in shown
    assert "[DIR/.lineward-ship]" in shown
