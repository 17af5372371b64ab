"""Advice of the runbook pages that was wrong or incomplete once, checked against code and chart."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main

from alerts.root_cause.kinds import KINDS
from lineage.policy import PolicyFile
from lineage.policy.reading import parse_policy
from runbooks.library import page_markdown, page_names
from service.api.access.decision import NEEDS, decide
from service.api.access.versions import version_of
from service.cli.main import app
from tests.runbooks.pasted import blocks, commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page_names())


@pytest.mark.parametrize("name", PAGES)
def test_a_folder_that_is_shipped_again_has_an_empty_state(name: str):
    """Find `--state`: with its own state, `lineward ship` sends nothing again."""
    for words in commands(page_markdown(name)):
        if words[0] == "ship":
            assert words[words.index("--state") + 1] == "$(mktemp -d)"


@pytest.mark.parametrize("name", PAGES)
def test_a_window_for_an_open_incident_comes_after_its_suppression(name: str):
    """Find `suppress` first: a window does not hide an incident that is open."""
    names = [" ".join(words[:2]) for words in commands(page_markdown(name))]
    if "act open-suppression" in names:
        before = names[: names.index("act open-suppression")]
        assert "suppress $INCIDENT" in before


@pytest.mark.parametrize("end", ["...\n", ""])
def test_policy_change_that_removes_the_last_token_needs_the_end(tmp_path: Path, end: str):
    """Run the block of the page: with the line `...` the token is gone at once.

    Mutant: a page without this line, so that the leaked token keeps working.
    """
    block = next(each for each in blocks(page_markdown("asking"), "sh") if "&& mv" in each)
    policy = tmp_path / "lineward.yaml"
    tokens = [f"    - {{name: {name}, sha256: {name * 64}}}\n" for name in "ab"]
    policy.write_text("access:\n  tokens:\n" + "".join(tokens))
    file = PolicyFile(policy, settle_seconds=0)
    (tmp_path / "lineward.yaml.new").write_text(f"access:\n  tokens:\n{tokens[0]}{end}")
    own = 'lineward() { python -m service.cli.main "$@"; }\n'
    given = {**os.environ, "LINEWARD_POLICY": str(policy)}
    subprocess.run(["bash", "-e", "-c", own + block], env=given, check=True, capture_output=True)

    left = [token.name for token in file.current().guard.tokens]
    assert left == (["a"] if end else ["a", "b"])
    assert (file.error is None) == bool(end)


@pytest.mark.parametrize("name", ["asking", "UnauthorizedAccess", "access"])
def test_pages_on_a_leaked_token_name_the_end_of_the_policy_and_the_check(name: str):
    """Find the last line, the command that shows a rejected file, and what to do then."""
    text = page_markdown(name)

    assert "End the new file with the line `...`" in text
    assert "the policy file is rejected" in text
    assert "On Kubernetes wait two minutes first" in text or name == "asking"
    assert "lineward status" in text
    assert "](PolicyRejected)" in text


@pytest.mark.parametrize("name", ["UnauthorizedAccess", "access"])
def test_pages_on_a_leaked_token_check_that_it_is_rejected(name: str):
    """Find the request with the old token, and the answer that shows that it is gone."""
    text = page_markdown(name)

    assert "the old token gets 401" in text
    assert '-H "Authorization: Bearer $TOKEN"' in text


def test_closing_the_api_keeps_the_calls_of_alertmanager(tmp_path: Path):
    """Use the block of the page: people get nothing, and Alertmanager's token posts alerts.

    Mutant: `access: {}`, which rejects Alertmanager too.
    """
    (block,) = blocks(page_markdown("UnauthorizedAccess"), "yaml")
    (tmp_path / "alertmanager.token").write_text("a" * 32)
    version = version_of(parse_policy(block), tmp_path)
    bearer = [b"Bearer " + b"a" * 32]

    actions = ("alertmanager", *NEEDS)
    allowed = {each for each in actions if decide(version, bearer, each, 0, is_cut=False).allowed}
    assert allowed == {"alertmanager"}
    assert not any(decide(version, [], each, 0, is_cut=False).allowed for each in actions)
    assert block.endswith("...\n")


def test_the_page_of_pages_names_the_kinds_that_always_page():
    """Compare the sentence with the table of kinds."""
    sentence = re.search(r"The kinds (.*) always page\.", page_markdown("LinewardIncidentPage"))

    assert sentence is not None
    named = re.findall(r"`(\w+)`", sentence[1])
    assert named == [kind.id for kind in KINDS if kind.urgency == "page"]


def test_the_restore_in_scaled_mode_stops_each_role_that_uses_the_catalog():
    """Compare the selectors of the page with the chart; the pipeline is in both forms."""
    chart = ROOT / "helm" / "lineward" / "templates" / "scaled"
    text = "".join(path.read_text("utf-8") for path in chart.glob("*.yaml"))
    defined = re.findall(r'\$needs := list (.*) \}\}\n.*"component" "(\w+)"', text)
    inline = re.findall(r'"component" "(\w+)".*"needs" \((.*)\)\)', text)
    needs = [(role, words) for words, role in defined] + inline
    selectors = re.findall(r"component in \(([\w,]+)\)", page_markdown("restoring"))

    assert len(needs) >= 5
    users = {role for role, words in needs if '"catalog"' in words}
    assert [set(each.split(",")) for each in selectors] == [users, users]


def test_no_page_uses_the_former_name_of_an_option():
    """Find no `--url` of `render` and `dashboards`: it is hidden in their help."""
    texts = [
        *map(page_markdown, PAGES),
        *(each.read_text() for each in (ROOT / "docs").rglob("*.md")),
    ]

    former = re.compile(r"lineward (render|dashboards) [^\n`]*--url\b")
    assert [found[0] for text in texts for found in former.finditer(text)] == []


def test_the_page_of_the_watchdog_lists_each_option_of_both_commands():
    """Compare with the help: an option that is left out changes the rendered file."""
    text = page_markdown("Watchdog")
    render: Any = typer.main.get_command(app).get_command(None, "render")  # type: ignore[attr-defined]
    for name in ("rules", "alertmanager"):
        options = {each for one in render.commands[name].params for each in one.opts} - {"--help"}
        assert {each for each in options if each not in text} == set(), name
