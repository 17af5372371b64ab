import re
import subprocess
from pathlib import Path

import pytest

from tests.service.commandline import lineward

_PAGERDUTY_URL = "LINEWARD_DELIVERY_PAGERDUTY_URL"
WATCHDOG = ("--watchdog-url", "https://elsewhere.example/ping")
POLICY = """
owners:
  - {name: data platform, pagerduty_key_file: /etc/pagerduty}
objectives: {coverage: {optional: 0.6}}
"""


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """Return the path of a policy file."""
    (tmp_path / "lineward.yaml").write_text(POLICY)
    return str(tmp_path / "lineward.yaml")


def test_rules_are_printed_and_unrendered_ones_explained(tmp_path: Path, policy: str):
    """Write the file to standard output, and rules that could never fire to standard error."""
    result = lineward("render", "rules", "--policy", policy, "--platform", "data platform")
    (tmp_path / "rules.yml").write_text(result.stdout)
    check = ["promtool", "check", "rules", "rules.yml"]

    assert result.returncode == 0
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert "owner: data platform\n" in result.stdout
    assert "runbook_url: http://127.0.0.1:8701/runbooks/Watchdog\n" in result.stdout
    assert "coverage (optional): not rendered: page 14.4x over 1h" in result.stderr
    assert "no owner" not in result.stderr


def test_names_and_addresses_are_options(policy: str):
    """Set the jobs of Prometheus, the public address, and the owner of escalations."""
    options = (
        "--job",
        "lw",
        "--collector-job",
        "lw-in",
        "--shipper-job",
        'lw-"out',
        "--lineward-url",
        "https://lineward.example/",
    )
    result = lineward("render", "rules", *options, "--engineering", "eng", LINEWARD_POLICY=policy)

    assert 'absent(up{job="lw"})' in result.stdout
    assert 'absent(up{job="lw-in"})' in result.stdout
    assert 'up{job="lw-\\"out"} == 0' in result.stdout
    assert "_job" not in result.stdout
    assert "runbook_url: https://lineward.example/runbooks/Watchdog\n" in result.stdout
    assert "owner: eng\n" in result.stdout
    assert "the policy has no owner 'eng'" in result.stderr


def test_settings_are_the_defaults_of_options(policy: str):
    """Take the public address and owners from the settings where no option gives them."""
    places = {
        "LINEWARD_ALERTS_PUBLIC_URL": "https://lineward.example",
        "LINEWARD_ALERTS_PLATFORM": "data platform",
        "LINEWARD_ALERTS_ENGINEERING": "eng",
        "LINEWARD_POLICY": policy,
    }
    result = lineward("render", "rules", **places)
    given = lineward("render", "rules", "--lineward-url", "https://other.example", **places)

    assert "runbook_url: https://lineward.example/runbooks/Watchdog\n" in result.stdout
    assert {"owner: data platform", "owner: eng"} <= {line.strip() for line in _lines(result)}
    assert "runbook_url: https://other.example/runbooks/Watchdog\n" in given.stdout


def _lines(result: "subprocess.CompletedProcess[str]") -> list[str]:
    return result.stdout.splitlines()


def test_an_address_that_only_this_machine_can_call_is_reported(policy: str):
    """Warn on a host that others cannot call, until one of the settings gives the address."""
    given = {"LINEWARD_HOST": "0.0.0.0", "LINEWARD_POLICY": policy}  # noqa: S104 - as in a pod
    named = {"LINEWARD_HOST": "lineward.example", "LINEWARD_POLICY": policy}
    public = {"LINEWARD_ALERTS_PUBLIC_URL": "https://lineward.example"}
    chosen = {"LINEWARD_ALERTS_PUBLIC_URL": "http://127.0.0.1:8701"}

    assert "set --lineward-url or LINEWARD_ALERTS_PUBLIC_URL" in _warnings("rules", **given)
    assert "this machine only" not in _warnings("rules", **given, **public)
    assert "this machine only" not in _warnings("rules", **given, **chosen)
    assert "this machine only" in _warnings("dashboards", "--format", "outline", **given)
    assert "this machine only" in _warnings("rules", LINEWARD_POLICY=policy)
    assert "this machine only" not in _warnings("rules", **named)


def test_an_empty_address_is_rejected(policy: str):
    """Reject the value of a shell variable that is not set, in place of links to this machine."""
    result = lineward("render", "rules", "--policy", policy, "--lineward-url", "")

    assert result.returncode == 6
    assert "--lineward-url: expected http://HOST or https://HOST, got ''" in result.stderr


def _warnings(*options: str, **given: str) -> str:
    return lineward("render", *options, **given).stderr


def test_alertmanager_configuration_is_printed(tmp_path: Path, policy: str):
    """Use the platform's own key outside, and warn without one."""
    url = ("--lineward-url", "http://127.0.0.1:8701")
    options = ("render", "alertmanager", *WATCHDOG, *url, "--token-file", "/etc/token")
    result = lineward(*options, "--platform", "data platform", LINEWARD_POLICY=policy)
    (tmp_path / "am.yml").write_text(result.stdout)
    check = ["amtool", "check-config", "am.yml"]

    assert (result.returncode, result.stderr) == (0, "")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert "url: http://127.0.0.1:8701/api/v1/alertmanager\n" in result.stdout
    assert "set --outside-url" in lineward(*options).stderr


def test_alertmanagers_token_is_named(tmp_path: Path):
    """Name the token's file for a policy with tokens, and warn without one."""
    policy = tmp_path / "guarded.yaml"
    guarded = "access: {tokens: [{name: am, token_file: am.token, roles: [alerts]}]}\n"
    policy.write_text(guarded)
    options = ("render", "alertmanager", *WATCHDOG, "--outside-url", "https://o.example")
    result = lineward(*options, "--token-file", "/etc/am.token", LINEWARD_POLICY=str(policy))

    assert result.stdout.startswith("# /etc/am.token holds the policy's token am.\n")
    assert "--token-file" not in result.stderr
    assert "--token-file" in lineward(*options, LINEWARD_POLICY=str(policy)).stderr
    policy.write_text("access: {}\n")
    unanswered = lineward(*options, "--token-file", "/etc/t", LINEWARD_POLICY=str(policy))
    assert "add one with the role alerts" in unanswered.stderr


def test_the_key_file_that_alertmanager_reads_is_named(tmp_path: Path):
    """Say that the policy's file must be copied: Alertmanager reads it on its own machine."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("owners: [{name: platform, pagerduty_key_file: keys/pd}]\n")
    options = ("render", "alertmanager", *WATCHDOG, "--policy", str(policy))
    relative = lineward(*options)
    absolute = lineward(*options, "--pagerduty-key-file", "/etc/pd")

    assert "looks for 'keys/pd' in its working directory" in relative.stderr
    first = "# /etc/pd holds the PagerDuty key of the owner platform: copy it to Alertmanager's"
    assert absolute.stdout.startswith(first)
    assert "routing_key_file: /etc/pd\n" in absolute.stdout
    assert "working directory" not in absolute.stderr


@pytest.mark.parametrize(
    ("variables", "rendered"),
    [
        ({_PAGERDUTY_URL: "https://events.eu.pagerduty.com"}, ["events.eu.pagerduty.com"]),
        ({_PAGERDUTY_URL: "https://events.pagerduty.com"}, ["events.pagerduty.com"]),
        ({}, []),
    ],
)
def test_the_region_of_pagerduty_is_rendered_if_it_is_set(
    variables: dict[str, str], rendered: list[str]
):
    """Leave Alertmanager's own address in force otherwise; it may be that of the EU.

    Mutant: a comparison with the default, by which the US cannot be set.
    """
    options = ("render", "alertmanager", *WATCHDOG, "--pagerduty-key-file", "/etc/pd")
    result = lineward(*options, **variables)

    assert re.findall("url: https://(.*)/v2/enqueue\n", result.stdout) == rendered


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("alertmanager",), "watchdog-url"),
        (("alertmanager", "--watchdog-url", "elsewhere"), "--watchdog-url: expected http"),
        (("alertmanager", *WATCHDOG, "--outside-url", "ftp://x"), "--outside-url: expected http"),
        (("rules", "--lineward-url", "lineward:8701"), "--lineward-url: expected http"),
        (("rules", "--policy", "/no/such/file.yaml"), "file.yaml: cannot be read"),
    ],
)
def test_an_invalid_address_is_rejected(arguments: tuple[str, ...], words: str):
    """Reject a watchdog whose address reaches nobody."""
    result = lineward("render", *arguments)

    assert (result.returncode != 0, result.stdout) == (True, "")
    assert words in result.stderr
