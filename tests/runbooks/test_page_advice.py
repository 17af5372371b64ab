"""Advice of the runbook pages that was wrong or incomplete once, checked against code and chart."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import typer.main

from alerts.root_cause.kinds import FAULT_KINDS
from lineage.policy import PolicyFile
from lineage.policy.reading import parse_policy
from runbooks.library import page_markdown, page_names
from service.api.access.decision import NEEDS, decide
from service.api.access.versions import version_of
from service.cli.main import app
from tests.runbooks.pasted import blocks, commands, queries, simple, simple_commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page_names())
_REJECTED = (
    "In scaled mode without `kubernetesSource.actions` this is rejected:"
    " [restart with kubectl](asking)."
)
_DELETED = "In scaled mode the shipper is a container of the collector's pod: delete that pod."
_NOT_THERE = re.compile(r"[Ii]n scaled mode .*this alert cannot fire")
_PROBES = [("", "", "200"), ("s3", "s3", "200"), ("old", "s3", "HTTP Error 401")]


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
    """Run the blocks of the page: with the line `...` the token is gone at once.

    Mutants: a page without this line, so that the leaked token keeps working; a copy without the
    mode of the policy, which the user of `lineward up` cannot read.
    """
    copy, *check_and_rename = _policy_change()
    policy = tmp_path / "lineward.yaml"
    tokens = [f"    - {{name: {name}, sha256: {name * 64}}}\n" for name in "ab"]
    policy.write_text("access:\n  tokens:\n" + "".join(tokens))
    policy.chmod(0o640)
    file = PolicyFile(policy, settle_seconds=0)
    _paste(copy, policy)
    (tmp_path / "lineward.yaml.new").write_text(f"access:\n  tokens:\n{tokens[0]}{end}")
    _paste("".join(check_and_rename), policy)

    left = [token.name for token in file.current().guard.tokens]
    assert left == (["a"] if end else ["a", "b"])
    assert (file.error is None) == bool(end)
    assert policy.stat().st_mode & 0o777 == 0o640


def _policy_change() -> list[str]:
    return [each for each in blocks(page_markdown("asking"), "sh") if "_POLICY.new" in each]


def _paste(block: str, policy: Path) -> None:
    own = 'umask 077; sudo() { "$@"; }; lineward() { python -m service.cli.main "$@"; }\n'
    given = {**os.environ, "LINEWARD_POLICY": str(policy)}
    subprocess.run(["bash", "-e", "-c", own + block], env=given, check=True, capture_output=True)


@pytest.mark.parametrize("name", PAGES)
def test_only_root_writes_beside_the_policy(name: str):
    """Find no `mv` or `cp` of the policy without `sudo`: its folder belongs to root.

    Mutant: `mv` in the shell of the user of `lineward up` ends in "Permission denied".
    """
    found = [words for words in simple(page_markdown(name)) if words[0] in {"mv", "cp"}]

    assert [words for words in found if any("LINEWARD_POLICY" in each for each in words)] == []


def test_the_policy_is_checked_by_the_user_that_reads_it():
    """Find the check alone in its block: root could read a file that this user cannot."""
    programs = [[words[0] for words in simple_commands(block)] for block in _policy_change()]

    assert programs == [["sudo"], ["lineward"], ["sudo"]]


@pytest.mark.parametrize("name", PAGES)
def test_a_restart_names_the_way_of_scaled_mode_without_rights(name: str):
    """Find the sentence after the last restart, where the page is for scaled mode, too."""
    text = page_markdown(name)

    if any(words[:2] == ["act", "restart-role"] for words in commands(text)):
        after = text.rpartition("act restart-role")[2]
        assert _REJECTED in after or _DELETED in after or _NOT_THERE.search(text)


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"asking"}))
def test_a_log_file_names_the_way_of_scaled_mode(name: str):
    """Find the link on each page that prints a log file: scaled mode has none."""
    text = page_markdown(name)

    if any(words[0] == "tail" and "/logs/" in words[-1] for words in simple(text)):
        read = "In scaled mode, read the log [with kubectl](asking)"
        assert read in text or _NOT_THERE.search(text)


@pytest.mark.parametrize(
    "name",
    [
        "LineageCollectorDown",
        "LineageIngestionStopped",
        "LineageSpoolFailing",
        "LineageSpoolGrowing",
        "ingestion",
    ],
)
def test_pages_on_a_waiting_spool_lead_to_the_shipper(name: str):
    """Find the link in a row of the table.

    Mutant: in scaled mode these pages had a restart of the pipeline, which reads no spool.
    """
    rows = [line for line in page_markdown(name).splitlines() if line.startswith("| ")]

    assert any("[LineageShipperStopped](LineageShipperStopped)" in row for row in rows)


def test_the_page_of_the_shipper_names_its_container_in_the_chart():
    """Read the logs of all pods of the collector: any of them may be the one."""
    text = page_markdown("LineageShipperStopped")
    container = re.search(r"logs --selector \S+component=collector -c (\w+) ", text)
    chart = (ROOT / "helm/lineward/templates/scaled/collector.yaml").read_text("utf-8")

    assert container is not None
    assert f'"name" "{container[1]}"' in chart


@pytest.mark.parametrize("name", PAGES)
def test_each_port_of_a_command_is_forwarded_from_kubernetes(name: str):
    """Find each port in a `port-forward`: without it, a part that runs seems to be down."""
    text = page_markdown(name)
    shell = "".join(blocks(text, "sh"))
    forwards = re.findall(
        r"port-forward (.*)", "".join(blocks(page_markdown("asking"), "sh")) + shell
    )

    ports = set(re.findall(r"http://127\.0\.0\.1:(\d+)", shell))
    assert ports <= set(re.findall(r"\b\d{4}\b", " ".join(forwards)))


@pytest.mark.parametrize("name", PAGES)
def test_a_query_of_alerts_selects_those_of_lineward(name: str):
    """Find the label `area`: kube-prometheus-stack has a Watchdog of its own."""
    for query in queries(page_markdown(name)):
        assert all("area=" in found for found in re.findall(r"ALERTS\{[^}]*\}", query))


@pytest.mark.parametrize(("token", "required", "status"), _PROBES)
def test_the_probe_of_marquez_sends_the_token_if_there_is_one(
    tmp_path: Path, token: str, required: str, status: str
):
    """Run the command of the page against a server that requires this token, or none.

    Mutant: a probe without the header says that the token was replaced.
    """
    page = "".join(blocks(page_markdown("MarquezForwardingStopped"), "sh"))
    command = re.search(r"(?s)python3 -c '.*?' .*?\n", page)
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    assert command is not None
    with _marquez(required) as url:
        names = {"LINEWARD_MARQUEZ_URL": url}
        names |= {"LINEWARD_MARQUEZ_TOKEN_FILE": str(file)} if token else {}
        given = {**os.environ, **names}
        done = subprocess.run(
            ["bash", "-c", command[0]], env=given, capture_output=True, text=True, check=False
        )

    assert status in done.stdout + done.stderr


@contextmanager
def _marquez(token: str) -> Iterator[str]:
    class Marquez(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_right = self.headers.get("Authorization") == (f"Bearer {token}" if token else None)
            self.send_response(200 if is_right else 401)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Marquez) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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
    """Put the block of the page into a policy, in place of its section.

    People get nothing, and Alertmanager's token posts alerts.

    Mutant: `access: {}`, which rejects Alertmanager too.
    """
    (block,) = blocks(page_markdown("UnauthorizedAccess"), "yaml")
    (tmp_path / "alertmanager.token").write_text("a" * 32)
    (example, *_) = blocks((ROOT / "docs" / "policy.md").read_text("utf-8"), "yaml")
    policy = re.sub(r"(?m)^access:.*\n(?: .*\n)+", block, example)
    assert policy != example
    version = version_of(parse_policy(policy), tmp_path)
    bearer = [b"Bearer " + b"a" * 32]

    actions = ("alertmanager", *NEEDS)
    allowed = {each for each in actions if decide(version, bearer, each, 0, is_cut=False).allowed}
    assert allowed == {"alertmanager"}
    assert not any(decide(version, [], each, 0, is_cut=False).allowed for each in actions)


def test_the_page_of_pages_names_the_kinds_that_always_page():
    """Compare the sentence with the table of kinds."""
    dashboards = (ROOT / "docs" / "dashboards.md").read_text("utf-8")
    for text in (page_markdown("LinewardIncidentPage"), dashboards):
        sentence = re.search(r"[Tt]he kinds (.*?) always page\.", text)

        assert sentence is not None
        named = re.findall(r"`(\w+)`", sentence[1])
        assert named == [kind.id for kind in FAULT_KINDS if kind.urgency == "page"]


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
