"""Command line: `lineward COMMAND`. The module of a command is imported when it runs.

A query takes half a second, of which Python and typer take a third. Therefore Spark, SQLAlchemy
and the web server are imported only by commands that need them.
"""

import importlib
import os
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup
from typer.models import TyperPath

from lineage.catalog.trouble import CatalogError, DamagedCatalogError, is_damaged
from lineage.errors import RequestError
from lineage.process.disk import is_failed_write
from lineage.process.environment import InvalidSettingError
from service.cli.commands.command_table import COMMANDS
from service.cli.terminal import warn
from service.errors import UnknownDatasetError, UnknownRunError
from service.runtime.failing_output import OUTPUT, describe_path_error, failed_file
from service.runtime.settings import last_read

_EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 no data yet, 5 no collector,"
    " 6 rejected, 7 in use (docs/cli.md)."
)


class LazyGroup(TyperGroup):
    """Group that knows the names of its commands, and imports a command when it runs."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's private click
        """List commands in the order in which a new user needs them."""
        return list(COMMANDS)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the help from the table: to import all commands would take longer than a query."""
        listed = [
            TyperCommand(name, help=known.summary, rich_help_panel=known.purpose)
            for name, known in COMMANDS.items()
        ]
        own = {"params": self.params, "help": self.help}
        group = TyperGroup(name=self.name, commands=listed, **own)  # type: ignore[arg-type]
        group.format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """Return the command of this name, or None."""
        known = COMMANDS.get(cmd_name)
        if known is None:
            return None
        command: Any = typer.main.get_command(importlib.import_module(known.module).app)
        if sum(each.module == known.module for each in COMMANDS.values()) > 1:
            command = command.commands[cmd_name]
        _reject_empty_paths(command)
        command.name = cmd_name
        command.rich_help_panel = known.purpose
        command.epilog = _epilog(known.examples)
        for name, part in getattr(command, "commands", {}).items():
            words = f"{cmd_name} {name}"
            part.epilog = _epilog([line for line in known.examples if line.startswith(words)])
        return command


class _NonEmptyPath(TyperPath):
    """Path of a parameter; an empty text, which an unset variable is, would be `.`."""

    def __init__(self, known: TyperPath) -> None:
        self.__dict__.update(vars(known))

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - typer's private click
        """Return the path."""
        if value == "":
            self.fail("the path is empty; is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


def _reject_empty_paths(command: Any) -> None:  # noqa: ANN401 - as above
    """Let each path among the parameters of a command and its parts reject an empty text."""
    for parameter in command.params:
        if isinstance(parameter.type, TyperPath):
            parameter.type = _NonEmptyPath(parameter.type)
    for part in getattr(command, "commands", {}).values():
        _reject_empty_paths(part)


def _epilog(examples: Iterable[str]) -> str:
    """Return the examples as paragraphs, because typer joins lines."""
    shown = "\n\n".join(f"  lineward {line}" for line in examples)
    return f"Examples:\n\n{shown}\n\n{_EXIT_CODES}"


app = typer.Typer(cls=LazyGroup, pretty_exceptions_enable=False, no_args_is_help=True)


@app.callback()
def lineward() -> None:
    """Monitor data lineage: receive OpenLineage events, compute SLIs, notify owners of faults."""


def _waiting_hint(error: RequestError) -> str:
    """Return how many events wait: the unknown dataset or run may be in them."""
    if not isinstance(error, UnknownDatasetError | UnknownRunError):
        return ""
    from lineage.process.clock import system_clock  # noqa: PLC0415 - only after this error
    from service.queries.status import load_status  # noqa: PLC0415 - as above

    try:
        status = load_status(last_read(), system_clock(), count_datasets=False)
    except (RequestError, sqlite3.Error):  # the first error is what the user needs
        return ""
    if not status.backlog_events:
        return ""
    waiting = status.backlog_events
    counted = "1 event waits" if waiting == 1 else f"{waiting:,} events wait"
    end = "" if str(error).endswith((".", "?")) else "."
    return f"{end} {counted} for the pipeline: try again, or see `lineward status`."


def main() -> None:
    """Run the command line; errors end with their documented exit code."""
    try:
        app()
    except RequestError as error:
        warn(f"{error}{_waiting_hint(error)}")
        sys.exit(error.exit_code)
    except InvalidSettingError as error:
        warn(str(error))
        sys.exit(2)
    except BrokenPipeError:
        # The reader closed the pipe (`| head`): Python would report it again when it flushes.
        _close_output()
        sys.exit(0)
    except OSError as error:
        if is_failed_write(error):
            _end_unwritten(error)
        if error.filename is None:
            raise
        warn(describe_path_error(error, last_read().data_dir))
        sys.exit(1)
    except Exception as error:
        if (trouble := _catalog_trouble(error)) is None:
            raise
        warn(trouble)
        sys.exit(1)


def _end_unwritten(error: OSError) -> NoReturn:
    file = failed_file(error, last_read().data_dir)
    if file == OUTPUT:
        _close_output()
    warn(f"{file}: {error.strerror}" if file else str(error.strerror))
    sys.exit(1)


def _catalog_trouble(error: Exception) -> str | None:
    """Explain a failure of the catalog's file or server."""
    # Few commands fail, and the others do without these imports.
    from service.queries.catalog_session import (  # noqa: PLC0415
        catalog_failure,
        sqlite_file,
        unreachable_error,
    )

    if isinstance(error, CatalogError):
        return str(unreachable_error(error))
    settings = last_read()
    path = sqlite_file(settings)
    trouble: Exception | None = catalog_failure(error, settings)
    if trouble is None and path and Path(path).is_file() and is_damaged(path):
        # Damaged pages may look like rows and fail anywhere.
        trouble = DamagedCatalogError(path)
    return str(trouble) if trouble else None


def _close_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
