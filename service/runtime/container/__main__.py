"""`python -m service.runtime.container ROLE ...`: the image's entrypoint.

It becomes the role's process, so that signals reach the role. `passwd [FILE]` writes a passwd file
with an entry for the user of the container: an init container makes it, the others mount it.
"""

import os
import pwd
import sys
from pathlib import Path

from service.runtime.container.commands import (
    ContainerCommand,
    EntrypointError,
    choose_command,
    passwd_with,
)

_PASSWD = Path("/etc/passwd")


def main(arguments: list[str]) -> int:
    """Become the command of these arguments; return 2 where that cannot be."""
    try:
        if arguments[:1] == ["passwd"]:
            return _write_passwd(arguments[1:])
        _become(choose_command(arguments, os.environ, has_passwd_entry=_has_passwd_entry()))
    except (EntrypointError, OSError) as error:
        sys.stderr.write(f"lineward: {error}\n")
    return 2


def _become(command: ContainerCommand) -> None:
    os.execvpe(command.argv[0], command.argv, command.environ)  # noqa: S606 - no shell between


def _write_passwd(files: list[str]) -> int:
    text = passwd_with(_PASSWD.read_text(), uid=os.getuid(), gid=os.getgid())
    for file in files:
        Path(file).write_text(text)
    if not files:
        sys.stdout.write(text)
    return 0


def _has_passwd_entry() -> bool:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
