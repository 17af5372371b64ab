"""Sentence of a command that cannot write a file."""

import errno
import os
from unittest.mock import Mock

import pytest

from service.cli import main


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
def test_a_file_that_cannot_be_written_is_named(code, monkeypatch, capsys):
    """Print it for a full disk, a used quota and a failing disk."""
    error = OSError(code, os.strerror(code), "/data/report.json")
    monkeypatch.setattr(main, "app", Mock(side_effect=error))

    with pytest.raises(SystemExit) as ended:
        main.main()

    assert ended.value.code == 1
    assert capsys.readouterr().err == f"lineward: /data/report.json: {os.strerror(code)}\n"


def test_another_error_of_a_file_is_raised(monkeypatch):
    """Raise all errors that are not about writing."""
    monkeypatch.setattr(main, "app", Mock(side_effect=OSError(errno.EBADF, "odd")))
    with pytest.raises(OSError, match="odd"):
        main.main()
