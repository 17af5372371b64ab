from pathlib import Path

import pytest

from lineage.process.environment import InvalidSettingError
from service.ingest.marquez.settings import read_marquez
from service.runtime.roles import role_commands
from service.runtime.settings import Settings
from tests.service.commandline import lineward


def test_the_role_runs_where_a_marquez_is_named():
    """Start three roles by default."""
    without = [command.role for command in role_commands(Settings())]
    beside = [
        command.role for command in role_commands(Settings(marquez_url="http://marquez:5000"))
    ]

    assert without == ["collector", "service", "pipeline"]
    assert beside == ["collector", "service", "marquez", "pipeline"]


def test_settings_are_read(monkeypatch, tmp_path: Path):
    """Accept a URL with a path and a slash at the end, and read the token from a file."""
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    monkeypatch.setenv("LINEWARD_MARQUEZ_URL", "https://proxy/marquez/")
    monkeypatch.setenv("LINEWARD_MARQUEZ_FORWARD", "false")
    monkeypatch.setenv("LINEWARD_MARQUEZ_TOKEN_FILE", str(file))

    found = read_marquez()

    assert (found.base_url, found.forward, found.pull) == ("https://proxy/marquez", False, True)
    assert found.authorization == {"Authorization": "Bearer s3cret"}


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("URL", "marquez:5000", "expected http://HOST:PORT"),
        ("URL", "http://me:s3cret@marquez:5000", "without user"),
        ("TOKEN_FILE", "/nowhere/token", "No such file"),
        ("TOKEN_FILE", "/dev/null", "printable ASCII"),
        ("CONNECTIONS", "0", "1 to 64"),
        ("PULL_SECOND", "1", "no such setting"),
    ],
)
def test_a_wrong_setting_is_named_and_no_secret_shown(monkeypatch, name, value, word):
    """Stop the role, and print no password in the error."""
    monkeypatch.setenv(f"LINEWARD_MARQUEZ_{name}", value)

    with pytest.raises(InvalidSettingError) as raised:
        read_marquez()

    assert f"LINEWARD_MARQUEZ_{name}" in str(raised.value)
    assert word in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_a_demo_sends_no_shop_of_its_own_to_a_real_marquez():
    """Stop at the start: its events would be forwarded."""
    done = lineward("demo", "--once", LINEWARD_MARQUEZ_URL="http://marquez:5000")

    assert done.returncode == 6
    assert "unset LINEWARD_CATALOG_URL" in done.stderr


def test_up_rejects_a_wrong_url_before_anything_starts(tmp_path: Path):
    """Print one sentence and exit with 2, instead of restarting a role again and again."""
    data = tmp_path / "data"
    done = lineward("up", "--data-dir", str(data), LINEWARD_MARQUEZ_URL="marquez")

    assert done.returncode == 2
    assert "LINEWARD_MARQUEZ_URL" in done.stderr
    assert not data.exists()
