"""A command that cannot write says so in one sentence, whatever keeps it from it."""

import errno
import os
from unittest.mock import Mock

import pytest

from service.cli import main


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
def test_a_file_that_cannot_be_written_is_named(code, monkeypatch, capsys):
    """A full disk, a quota that is used up, a disk that fails."""
    error = OSError(code, os.strerror(code), "/data/report.json")
    monkeypatch.setattr(main, "app", Mock(side_effect=error))

    with pytest.raises(SystemExit) as ended:
        main.main()

    assert ended.value.code == 1
    assert capsys.readouterr().err == f"lineward: /data/report.json: {os.strerror(code)}\n"


def test_another_error_of_a_file_is_not_hidden(monkeypatch):
    """Only those of writing have a sentence."""
    monkeypatch.setattr(main, "app", Mock(side_effect=OSError(errno.EBADF, "odd")))
    with pytest.raises(OSError, match="odd"):
        main.main()
