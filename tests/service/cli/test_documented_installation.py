"""Unit and settings of docs/one-machine.md, policies of docs/get-started.md, and the setup."""

import configparser
import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from lineage.policy.gaps import unreachable_owners
from lineage.policy.reading import load_policy
from lineage.policy.resolution import PolicyDecision, decide_policy
from service.cli.commands.command_table import COMMANDS
from tests.service.commandline import lineward
from tests.suite.variables import setting_variables

_ROOT = Path(__file__).resolve().parents[3]
_BLOCK = re.compile(r"(?ms)^```(ini|yaml)\n(.*?)^```")
_INDENTED = re.compile(r"(?ms)^   ```\n(.*?)^   ```")


@pytest.fixture
def blocks() -> list[str]:
    """Return the policy, the settings and the unit, in the order of the page."""
    page = (_ROOT / "docs" / "one-machine.md").read_text("utf-8")
    return [text for _, text in _BLOCK.findall(page)]


def test_the_unit_runs_the_installed_command_with_the_documented_files(blocks: list[str]):
    """Compare the unit with the target `install`, the command line and the settings.

    Mutants: a unit that runs `start`, a settings file with `LINEWARD_DATA_DIRECTORY`.
    """
    service = _service_section(blocks[2])
    program, command = service["ExecStart"].split()
    settings = dict(line.split("=", 1) for line in blocks[1].splitlines() if line[0] != "#")

    assert program == "/opt/lineward/.venv/bin/lineward"
    assert command in COMMANDS
    assert set(settings) <= setting_variables()
    assert settings["LINEWARD_DATA_DIR"] == f"/var/lib/{service['StateDirectory']}"
    assert Path(settings["LINEWARD_POLICY"]).parent == Path(service["EnvironmentFile"]).parent
    assert "\ninstall:" in (_ROOT / "Makefile").read_text()


def test_the_unit_of_ship_runs_the_documented_command(blocks: list[str], tmp_path: Path):
    """Run the command of the unit with its folders and token below another root.

    Mutants: `--token` for `--token-file`; a state folder that systemd does not create; a folder
    that the page does not create; without `SupplementaryGroups`.
    """
    page = (_ROOT / "docs" / "one-machine.md").read_text("utf-8")
    (text,) = re.findall(r"(?ms)^   ```ini\n(.*?)^   ```", page)
    service = _service_section(textwrap.dedent(text))
    program, *words = service["ExecStart"].split()
    created = re.findall(r"(?m)^   install (-d )?-o (\S+) -g (\S+) -m (\d+) (?:\S+ )?(\S+)$", page)
    given = {path: (owner, group, mode) for _, owner, group, mode, path in created}
    options = dict(zip(words[2::2], words[3::2], strict=True))

    assert program == _service_section(blocks[2])["ExecStart"].split()[0]
    assert given[words[1]] == ("spark", service["SupplementaryGroups"], "2770")
    assert given[options["--token-file"]] == ("root", service["Group"], "640")
    assert options["--state"] == f"/var/lib/{service['StateDirectory']}"
    done = lineward(*_below(tmp_path, words), "--once")
    assert done.stdout == "0 events accepted, 0 rejected\n"


def _service_section(text: str) -> configparser.SectionProxy:
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    return unit["Service"]


def _below(root: Path, words: list[str]) -> list[str]:
    """Return the words with their paths below a root, which has the folder and the token."""
    moved = [str(root / word[1:]) if word.startswith("/") else word for word in words]
    Path(moved[1]).mkdir(parents=True)
    token = Path(moved[moved.index("--token-file") + 1])
    token.parent.mkdir(parents=True)
    token.write_text("secret")
    return moved


def test_the_container_needs_no_user_of_the_machine():
    """Find the group 10001 of the image, and the mode of the policy, in the container's steps.

    Mutants: `-g lineward`, which only a machine with this user accepts; without the `chmod`.
    """
    page = (_ROOT / "docs" / "one-machine.md").read_text("utf-8")
    section = page.partition("\n## Run it as a container\n")[2]
    commands = [text.split() for text in "\n".join(_INDENTED.findall(section)).splitlines()]

    assert "USER 10001:10001" in (_ROOT / "Dockerfile").read_text("utf-8")
    groups = {words[words.index("-g") + 1] for words in commands if "-g" in words}
    groups |= {words[words.index("chgrp") + 1] for words in commands if "chgrp" in words}
    assert groups == {"10001"}
    assert ["chmod", "640", "/etc/lineward/lineward.yaml"] in commands


def test_the_policy_needs_a_token(blocks: list[str], tmp_path: Path):
    """Load it as a role does."""
    file = tmp_path / "lineward.yaml"
    file.write_text(blocks[0])

    policy = load_policy(file)

    assert policy.guard is not None
    assert [one.token_file for one in policy.guard.tokens] == ["people.token"]


def test_the_first_policies_match_the_datasets_of_the_first_job(tmp_path: Path):
    """Decide by both policies of the page for the folders that its job writes.

    Mutants: `raw/readings`, which is another dataset; `/tmp/weather/core/*` without the namespace.
    """
    page = (_ROOT / "docs" / "get-started.md").read_text("utf-8")
    readings, stations = re.findall(r'\.parquet\("(/tmp/[^"]+)"\)\n', page)
    generated, policy = (text for _, text in _BLOCK.findall(page))

    assert _decide(tmp_path, generated, readings).generated
    assert _decide(tmp_path, policy, readings).generated
    found = _decide(tmp_path, policy, stations)
    assert (found.owner, found.tier, found.limit_seconds) == ("weather", "critical", 26 * 3600)


_EXAMPLES = [
    ("get-started.md", r"(?ms)^```yaml\n(owners:.*?)^```"),
    ("one-machine.md", r"(?ms)^```yaml\n(owners:.*?)^```"),
    ("policy.md", r"(?ms)^```yaml\n(time_zone:.*?)^```"),
    ("kubernetes/install.md", r"(?ms)^  inline: \|\n(.*?\n    \.\.\..*?\n)"),
    ("kubernetes/scaled-mode.md", r"(?ms)^```yaml\n(owners:.*?)^```"),
]


@pytest.mark.parametrize(("page", "pattern"), _EXAMPLES, ids=[page for page, _ in _EXAMPLES])
def test_documented_policies_notify_the_platform_owner(page: str, pattern: str, tmp_path: Path):
    """Find a channel for each owner, and an owner for what has none.

    Mutant: without the owner `platform` nobody is notified of datasets without an owner.
    """
    (text,) = re.findall(pattern, (_ROOT / "docs" / page).read_text("utf-8"))
    file = tmp_path / "lineward.yaml"
    file.write_text(textwrap.dedent(text))

    assert unreachable_owners(load_policy(file), "platform") == []


def _decide(folder: Path, policy: str, name: str) -> PolicyDecision:
    file = folder / "lineward.yaml"
    file.write_text(policy)
    return decide_policy(load_policy(file), "file", name)


@pytest.mark.parametrize(("has_java_17", "package"), [(True, 17), (False, 21)])
def test_the_setup_names_a_java_that_this_debian_has(
    tmp_path: Path, *, has_java_17: bool, package: int
):
    """Run it without Java and without rights, with an `apt-cache` that knows Java 17 or does not.

    Mutant: `openjdk-17-jre-headless` on Debian 13, which has no such package.
    """
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    _write_program(tmp_path / "id", "echo 1000")
    _write_program(tmp_path / "apt-cache", f"exit {0 if has_java_17 else 100}")
    done = subprocess.run(
        [tmp_path / "bash", _ROOT / "scripts" / "setup.sh", "runtime"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert f"apt-get install openjdk-{package}-jre-headless)" in done.stderr


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!{shutil.which('bash')}\n{line}\n")
    path.chmod(0o755)
