"""Warnings of `lineward policy check` about access tokens."""

import json

import pytest

from tests.service.commandline import lineward

_MISSING = (
    "access.tokens[0].token_file: a.token does not exist here; the token is not valid until it does"
)


def _write(tmp_path, token):
    policy = tmp_path / "lineward.yaml"
    policy.write_text(f"access: {{tokens: [{{name: a, {token}}}]}}\n...\n")
    return str(policy)


def test_a_missing_token_file_is_a_warning(tmp_path):
    """Exit with 0, as the check may run on another machine."""
    policy = _write(tmp_path, "token_file: a.token")

    missing = lineward("policy", "check", policy)
    listed = json.loads(lineward("policy", "check", policy, "--json").stdout)
    (tmp_path / "a.token").write_text("0123456789abcdef")
    there = lineward("policy", "check", policy)

    assert (missing.returncode, f"  {_MISSING}\n" in missing.stdout) == (0, True)
    assert listed["tokens"] == [_MISSING]
    assert "token" not in there.stdout.partition("\n")[2]


@pytest.mark.parametrize("role", ["respond", "alerts", "admin"])
def test_a_role_that_needs_all_namespaces_is_a_warning(tmp_path, role):
    """Warn before the first 403."""
    digest = "0" * 64
    limited = _write(tmp_path, f"sha256: '{digest}', roles: [{role}], namespaces: [file]")
    text = f"access.tokens[0].roles: {role} needs all namespaces"
    assert text in lineward("policy", "check", limited).stdout

    whole = _write(tmp_path, f"sha256: '{digest}', roles: [{role}]")
    assert text not in lineward("policy", "check", whole).stdout


def test_an_empty_section_without_braces_is_invalid(tmp_path):
    """Accept `access: {}` only, which rejects all requests."""
    policy = tmp_path / "lineward.yaml"
    policy.write_text("access:\n...\n")
    assert lineward("policy", "check", str(policy)).returncode != 0
    policy.write_text("access: {}\n...\n")
    assert lineward("policy", "check", str(policy)).returncode == 0
