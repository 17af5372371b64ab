"""Unit and settings of docs/one-machine.md."""

import configparser
import re
from pathlib import Path

import pytest

from lineage.policy.reading import load_policy
from service.cli.commands.command_table import COMMANDS
from tests.suite.variables import setting_variables

_ROOT = Path(__file__).resolve().parents[3]
_BLOCK = re.compile(r"(?ms)^```(ini|yaml)\n(.*?)^```")


@pytest.fixture
def blocks() -> list[str]:
    """Return the policy, the settings and the unit, in the order of the page."""
    page = (_ROOT / "docs" / "one-machine.md").read_text("utf-8")
    return [text for _, text in _BLOCK.findall(page)]


def test_the_unit_runs_the_installed_command_with_the_documented_files(blocks: list[str]):
    """Compare the unit with the target `install`, the command line and the settings.

    Mutants: a unit that runs `start`, a settings file with `LINEWARD_DATA_DIRECTORY`.
    """
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(blocks[2])
    service = unit["Service"]
    program, command = service["ExecStart"].split()
    settings = dict(line.split("=", 1) for line in blocks[1].splitlines() if line[0] != "#")

    assert program == "/opt/lineward/.venv/bin/lineward"
    assert command in COMMANDS
    assert set(settings) <= setting_variables()
    assert settings["LINEWARD_DATA_DIR"] == f"/var/lib/{service['StateDirectory']}"
    assert Path(settings["LINEWARD_POLICY"]).parent == Path(service["EnvironmentFile"]).parent
    assert "\ninstall:" in (_ROOT / "Makefile").read_text()


def test_the_policy_needs_a_token(blocks: list[str], tmp_path: Path):
    """Load it as a role does."""
    file = tmp_path / "lineward.yaml"
    file.write_text(blocks[0])

    policy = load_policy(file)

    assert policy.guard is not None
    assert [one.token_file for one in policy.guard.tokens] == ["people.token"]
