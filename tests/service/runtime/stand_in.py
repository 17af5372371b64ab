"""Stand-ins for the roles, and a supervisor of them: `stand_in.py FOLDER PORT [stubborn|silent]`.

As a role (`stand_in.py FOLDER role NAME [PORT]`) it starts a process of its own, notes both, and on
SIGTERM notes that it ended.
"""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from service.runtime import supervised_role
from service.runtime.child import RoleCommand
from service.runtime.supervisor import Supervisor


def main() -> None:
    """Be what the arguments say."""
    folder, what, *rest = sys.argv[1:]
    if what == "role":
        _role(Path(folder), *rest)
    else:
        _supervise(Path(folder), int(what), stubborn="stubborn" in rest, silent="silent" in rest)


def _supervise(folder: Path, port: int, *, stubborn: bool, silent: bool) -> None:
    if silent:
        supervised_role.CHECK_SECONDS = 0.5

    def command(role: str, *more: str) -> tuple[str, ...]:
        return (sys.executable, __file__, str(folder), "role", role, *more)

    commands = [
        RoleCommand(
            role="collector", argv=command("collector", str(port)), address=("127.0.0.1", port)
        ),
        RoleCommand(
            role="service",
            argv=command("service"),
            # Nobody answers there: while it starts, it has five times as long.
            livez=("127.0.0.1", port) if silent else None,
            hang_seconds=1,
            stop_seconds=0.5,
        ),
        RoleCommand(
            role="pipeline",
            argv=command("pipeline", "0", "stubborn" if stubborn else ""),
            # The one that ends by itself may take its time for it.
            stop_seconds=0.5 if stubborn else 30,
        ),
    ]
    supervisor = Supervisor(commands, folder, os.environ, _print)
    supervisor.run(on_accepting=lambda: _print("accepting"))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _role(folder: Path, name: str, port: str = "0", mood: str = "") -> None:
    def stop(_number: int, _frame: object) -> None:
        with (folder / "ended").open("a") as file:
            file.write(f"{name}\n")
        if mood != "stubborn":
            os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    grandchild = subprocess.Popen(["sleep", "600"])
    with socket.create_server(("127.0.0.1", int(port))):
        _serve(folder, name, grandchild.pid)


def _serve(folder: Path, name: str, grandchild: int) -> None:
    scratch = folder / f"{name}.new"
    scratch.write_text(f"{os.getpid()} {grandchild}")
    scratch.replace(folder / f"{name}.pids")
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
