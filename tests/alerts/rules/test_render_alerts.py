import subprocess
from pathlib import Path

import pytest

from tests.service.commandline import lineward

WATCHDOG = ("--watchdog-url", "https://elsewhere.example/ping")
POLICY = """
owners:
  - {name: data platform, pagerduty_key_file: /etc/pagerduty}
objectives: {coverage: {optional: 0.6}}
"""


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """A policy file."""
    (tmp_path / "lineward.yaml").write_text(POLICY)
    return str(tmp_path / "lineward.yaml")


def test_rules_are_printed_and_unrendered_ones_explained(tmp_path: Path, policy: str):
    """Standard output is the file; standard error says what could never fire, and why."""
    told = lineward("render", "rules", "--policy", policy, "--platform", "data platform")
    (tmp_path / "rules.yml").write_text(told.stdout)
    check = ["promtool", "check", "rules", "rules.yml"]

    assert told.returncode == 0
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert "owner: data platform\n" in told.stdout
    assert "runbook_url: http://127.0.0.1:8701/runbooks/Watchdog\n" in told.stdout
    assert "coverage (optional): not rendered: page 14.4x over 1h" in told.stderr
    assert "no owner" not in told.stderr


def test_names_and_addresses_are_options(policy: str):
    """Of Prometheus' jobs, of the API as others see it, of who hears of what burns on."""
    options = ("--job", "lw", "--collector-job", "lw-in", "--url", "https://lineward.example/")
    told = lineward("render", "rules", *options, "--engineering", "eng", LINEWARD_POLICY=policy)

    assert 'absent(up{job="lw"})' in told.stdout
    assert 'absent(up{job="lw-in"})' in told.stdout
    assert "runbook_url: https://lineward.example/runbooks/Watchdog\n" in told.stdout
    assert "owner: eng\n" in told.stdout
    assert "the policy has no owner 'eng'" in told.stderr


def test_alertmanager_configuration_is_printed(tmp_path: Path, policy: str):
    """The platform's own key is the way outside; without one the command warns."""
    options = ("render", "alertmanager", *WATCHDOG, "--token-file", "/etc/token")
    told = lineward(*options, "--platform", "data platform", LINEWARD_POLICY=policy)
    (tmp_path / "am.yml").write_text(told.stdout)
    check = ["amtool", "check-config", "am.yml"]

    assert (told.returncode, told.stderr) == (0, "")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert "url: http://127.0.0.1:8701/api/v1/alertmanager\n" in told.stdout
    assert "set --outside-url" in lineward(*options).stderr


def test_alertmanagers_token_is_named(tmp_path: Path):
    """Of a policy that asks for tokens: the file says which one; without one the command warns."""
    policy = tmp_path / "guarded.yaml"
    guarded = "access: {tokens: [{name: am, token_file: am.token, roles: [alerts]}]}\n"
    policy.write_text(guarded)
    options = ("render", "alertmanager", *WATCHDOG, "--outside-url", "https://o.example")
    told = lineward(*options, "--token-file", "/etc/am.token", LINEWARD_POLICY=str(policy))

    assert told.stdout.startswith("# /etc/am.token holds the policy's token am.\n")
    assert "--token-file" not in told.stderr
    assert "--token-file" in lineward(*options, LINEWARD_POLICY=str(policy)).stderr
    policy.write_text("access: {}\n")
    unanswered = lineward(*options, "--token-file", "/etc/t", LINEWARD_POLICY=str(policy))
    assert "add one with the role alerts" in unanswered.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("alertmanager",), "watchdog-url"),
        (("alertmanager", "--watchdog-url", "elsewhere"), "--watchdog-url: expected http"),
        (("alertmanager", *WATCHDOG, "--outside-url", "ftp://x"), "--outside-url: expected http"),
        (("rules", "--url", "lineward:8701"), "--url: expected http"),
        (("rules", "--policy", "/no/such/file.yaml"), "file.yaml: cannot be read"),
    ],
)
def test_an_invalid_address_is_rejected(arguments: tuple[str, ...], words: str):
    """A watchdog that nobody hears is none."""
    told = lineward("render", *arguments)

    assert (told.returncode != 0, told.stdout) == (True, "")
    assert words in told.stderr
