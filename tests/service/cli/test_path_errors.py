"""Paths that a command may not read or write: one line, no traceback."""

import os
from pathlib import Path

import pytest

from service.cli import main as command_line
from service.runtime.settings import read_settings
from tests.service.commandline import lineward

_ADVICE = (
    "permission denied: run this as the user that runs Lineward, or name another folder with"
    " --data-dir (docs/one-machine.md#4-test-it)"
)


def _end_with(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command fail with this error; tests run as root, which no folder rejects."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(command_line, "app", fail)
    command_line.main()


@pytest.mark.parametrize("place", ["data/catalog.db", "data", "."])
def test_a_data_folder_of_another_user_is_named_with_the_fix(
    place: str, tmp_path: Path, monkeypatch, capsys
):
    """Name the data folder, also where the error names a file in it, or the folder above."""
    monkeypatch.setenv("LINEWARD_DATA_DIR", str(tmp_path / "data"))
    read_settings()
    error = PermissionError(13, os.strerror(13), str(tmp_path / place))

    with pytest.raises(SystemExit) as ended:
        _end_with(error, monkeypatch)

    assert ended.value.code == 1
    assert capsys.readouterr().err == f"lineward: {tmp_path / 'data'}: {_ADVICE}\n"


def test_another_path_is_named_with_the_reason(monkeypatch, capsys):
    error = PermissionError(13, os.strerror(13), "/etc/lineward/people.token")

    with pytest.raises(SystemExit) as ended:
        _end_with(error, monkeypatch)

    assert ended.value.code == 1
    assert capsys.readouterr().err == "lineward: /etc/lineward/people.token: Permission denied\n"


def test_an_error_without_a_path_keeps_its_traceback(monkeypatch):
    """Raise it: without a path, the traceback is the only hint at the place."""
    with pytest.raises(ConnectionRefusedError):
        _end_with(ConnectionRefusedError(111, "Connection refused"), monkeypatch)


@pytest.mark.parametrize("command", [("up",), ("demo", "--once")])
def test_a_data_folder_that_is_a_file_is_one_line(command: tuple[str, ...], tmp_path: Path):
    """Run the commands that create the folder."""
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "data")

    done = lineward(*command, "--data-dir", folder)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
