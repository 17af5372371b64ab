"""Check of paths on the command line: an unset variable in quotes is an empty text."""

from typing import Any

from typer.models import TyperPath


class NonEmptyPath(TyperPath):
    """Path of a parameter; an empty text is rejected, because it would mean the working folder."""

    def __init__(self, known: TyperPath) -> None:
        self.__dict__.update(vars(known))

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - typer's private click
        """Return the path."""
        if value == "":
            self.fail("the path is empty; is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


def reject_empty_paths(command: Any) -> None:  # noqa: ANN401 - as above
    """Let each path among the parameters of a command and its parts reject an empty text."""
    for parameter in command.params:
        if isinstance(parameter.type, TyperPath):
            parameter.type = NonEmptyPath(parameter.type)
    for part in getattr(command, "commands", {}).values():
        reject_empty_paths(part)
