import os
import re
import sqlite3
import subprocess
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml
from prometheus_client import generate_latest

from alerts.incidents.detected_fault import service_fault
from alerts.incidents.incident_text import unknown_root_reason
from alerts.own_parts import EVENTS_ROOT
from alerts.root_cause.faults import UnknownReason, label_of_root
from alerts.root_cause.kinds import FAULT_KINDS
from alerts.rules.incident_alerts import OPEN_SERIES
from alerts.rules.recordings import EXPLAINED
from alerts.rules.rule_file import alert_names
from collector import metrics
from lineage.catalog.meta_keys import CATALOG_EPOCH
from lineage.states import REASONS, UNAUTHORIZED_ACCESS
from runbooks.html import page_html
from runbooks.library import (
    RUNBOOKS_PATH,
    SHARED,
    UnknownPageError,
    index_markdown,
    page_markdown,
    page_names,
)
from service.api.app import create_app
from service.runtime.roles import role_commands
from service.runtime.settings import Settings
from tests.alerts.rules.promtool import RUNBOOKS, rules_of
from tests.runbooks.pasted import (
    blocks,
    commands,
    mentioned,
    parse,
    queries,
    simple,
    simple_commands,
    variables,
)
from tests.suite.variables import setting_variables

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page_names())
OWN = sorted(page_names() - set(SHARED))
_LINK = re.compile(r"\]\(([^)]+)\)")
_METRIC = re.compile(r"\blineage_[a-z_]+\b|\bsli_tier\w*:[\w:]+")
_VARIABLE = re.compile(r"\bLINEWARD_[A-Z_]+[A-Z]\b")
_URL = re.compile(r"http://127\.0\.0\.1:870([0-2])([^?\"'\s]*)")
_ACTION = re.compile(r" *lineward act ")
_ACTS = re.compile(r"lineward act ")
_AT_ONCE = re.compile(
    r" *lineward (retire|ack|ship|suppress|marquez resend (?!--bodies)|escalate|resolve"
    r"|false-alarm) "
)
_ROLE_SETTING = re.compile(r"`LINEWARD_(PIPELINE|COLLECTOR|MARQUEZ)_")
_CHANGING = {
    *("act", "retire", "ack", "escalate", "resolve", "false-alarm", "suppress", "ship", "marquez")
}
_GROUPS = {"act", "marquez"}
_SECTIONS = ("Meaning", "Impact", "Diagnosis", "Mitigation")
# The image has no other programs: coreutils and grep of Debian, Python, and Lineward's own.
_IN_THE_CONTAINER = {
    "lineward",
    "python3",
    "tail",
    "df",
    "ls",
    "cat",
    "grep",
    "date",
    "mkdir",
    "cp",
    "mv",
}
_ON_OWN_MACHINE = {"curl", "kubectl", "promtool", "amtool"}
_ON_THE_NODE = {"sudo", "docker"}
_ANYWHERE = {"grep", "head", "cd", "export", "set", "."}  # some are of the shell itself
_ALL_ROLES = Settings(
    log="kafka", marquez_url="http://m", kafka_bootstrap="k:9092", kubernetes_namespaces="jobs"
)
_ROLES = {each.role for each in role_commands(_ALL_ROLES)}
_ORACLES = {"lineage_facet"}  # a word of M4, and no metric


def test_each_alert_and_each_kind_of_fault_has_a_page_and_no_other_page_exists():
    """Link each page of a person to a runbook; a runbook without an alert would never be read."""
    assert set(OWN) == {*alert_names(), *(kind.id for kind in FAULT_KINDS)}
    assert set(SHARED) <= page_names()


def _root_kinds() -> set[str]:
    """Return each value of the label `root_kind`: parts of Lineward, and kinds of fault."""
    faults = [
        *(service_fault("ingestion", each.role, 0) for each in role_commands(_ALL_ROLES)),
        service_fault("access", UNAUTHORIZED_ACCESS.name, 0),
        service_fault("set_aside", EVENTS_ROOT, 0),
    ]
    own = {fault.root.kind for fault in faults}
    return {label_of_root(fault.root) for fault in faults} | {kind.id for kind in FAULT_KINDS} - own


def test_each_value_of_the_label_root_kind_leads_to_a_page():
    """Find each value of the label in an alert's page: the name of a page, or a row with one."""
    text = page_markdown("LinewardIncidentPage") + page_markdown("LinewardIncidentTicket")
    rows = re.findall(r"(?m)^ *\| (`.+`) \| \[\w+\]\(\w+\) \|$", text)
    listed = {value for row in rows for value in re.findall(r"`(\w+)`", row)}

    assert len(_root_kinds()) > len(FAULT_KINDS)
    assert listed | {kind.id for kind in FAULT_KINDS} & set(_LINK.findall(text)) >= _root_kinds()
    assert listed <= _root_kinds()


def test_each_role_has_a_row_on_what_its_failure_means():
    """Find the roles of `lineward up` in the page of their alert."""
    impact = page_markdown("LineageRoleFailing").partition("## Impact")[2].partition("## ")[0]
    roles = role_commands(_ALL_ROLES)

    assert {each.role for each in roles} == set(re.findall(r"`([a-z]+)`", impact))


@pytest.mark.parametrize("name", OWN)
def test_a_page_has_all_four_sections_in_order(name: str):
    """Find Meaning, Impact, Diagnosis and Mitigation, none of them empty, and when to escalate."""
    title, *sections = re.split(r"(?m)^## ", page_markdown(name))

    assert title.strip() == f"# {name}"
    assert tuple(one.partition("\n")[0] for one in sections) == _SECTIONS
    assert all(one.partition("\n")[2].strip() for one in sections)
    assert "](escalating)" in sections[-1] or "ot escalate" in sections[-1]
    assert 15 < len(page_markdown(name).splitlines()) <= 70


@pytest.mark.parametrize("name", PAGES)
def test_every_own_command_is_valid(name: str):
    """Parse command, options and arguments with the real parser."""
    for arguments in commands(page_markdown(name)):
        parse(arguments)


@pytest.mark.parametrize("name", PAGES)
def test_an_action_is_two_lines_and_the_first_prints_the_plan(name: str):
    """Find each action twice, without and with `--yes`; a diagnosis prints plans only."""
    for section in re.split(r"(?m)^## ", page_markdown(name)):
        acts = [line.strip() for line in section.splitlines() if _ACTION.match(line)]
        plans = [line for line in acts if not line.endswith(" --yes")]

        if section.startswith("Diagnosis"):
            assert acts == plans
        else:
            assert acts == [line for plan in plans for line in (plan, f"{plan} --yes")]


@pytest.mark.parametrize("name", PAGES)
def test_a_command_that_acts_has_a_block_and_an_introduction(name: str):
    """Find each command that changes something alone in its block, after a sentence on it.

    Mutant: a block with the plan and `--yes` carries out a plan that nobody has read.
    """
    for introduction, block in re.findall(
        r"(?ms)([^\n]*)\n*^ *```sh\n(.*?)^ *```", page_markdown(name)
    ):
        lines = block.splitlines()
        if any(line.endswith(" --yes") for line in lines):
            assert (len(lines), "Read the plan" in introduction) == (1, True), block
        assert introduction.strip() != "```" or not _ACTS.search(block), block
        if any(_AT_ONCE.match(line) for line in lines):
            assert (len(lines), "acts at once" in introduction) == (1, True), block


@pytest.mark.parametrize("name", PAGES)
def test_a_command_that_acts_has_no_literal_of_an_example(name: str):
    """Find variables in place of notes, targets and times: a pasted example would be sent.

    Mutant: `--note 'amounts are doubled'` goes to all owners downstream.
    """
    for words in commands(page_markdown(name)):
        if words[0] in _CHANGING:
            first = 2 if words[0] in _GROUPS else 1
            values = [each for each in words[first:] if not each.startswith("--")]
            assert all(each.startswith("$") or each in _ROLES for each in values), words


def test_runs_of_a_job_without_a_failure_are_compared_by_their_ids():
    """Use `diff --job` on the page of failed runs only: it needs a failure after a success."""
    pages = {name for name in PAGES if "diff --job" in page_markdown(name)}

    assert pages == {"failed"}


def test_a_restore_moves_the_files_beside_the_catalog_first(tmp_path: Path):
    """Run the blocks of the page: a `-wal` of the damaged catalog would change the backup.

    Mutant: a page that moves `catalog.db` alone.
    """
    section = page_markdown("restoring").partition("## On Kubernetes")[0]
    (tmp_path / "backup").write_text("backup")
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"catalog.db{end}").write_text("damaged")
    given = {"LINEWARD_DATA_DIR": str(tmp_path), "BACKUP": str(tmp_path / "backup")}
    steps = [each for each in blocks(section, "sh") if each.startswith(("mkdir ", "cp "))]
    assert len(steps) == 2
    for block in steps:
        subprocess.run(["bash", "-e", "-c", block], env={**os.environ, **given}, check=True)

    assert [each.name for each in tmp_path.glob("catalog.db*")] == ["catalog.db"]
    assert (tmp_path / "catalog.db").read_text() == "backup"
    assert len([*tmp_path.glob("damaged/*")]) == 3
    again = subprocess.run(["bash", "-c", steps[0]], env={**os.environ, **given}, check=False)
    assert (again.returncode, (tmp_path / "catalog.db").exists()) == (1, True), "keep both"


@pytest.mark.parametrize("name", OWN)
def test_a_changed_setting_has_the_way_to_change_it(name: str):
    """Find the link beside each setting of a role that a Mitigation names.

    A role that is restarted has the environment that `lineward up` had at its start.
    """
    mitigation = page_markdown(name).partition("## Mitigation")[2]

    if _ROLE_SETTING.search(mitigation):
        assert re.search(r"\[[Cc]hange (a|the) settings?\]\(asking\)", mitigation)


@pytest.mark.parametrize("name", OWN)
def test_a_mitigation_gives_an_action_in_a_block_only(name: str):
    """Find no action inside a sentence: a command that only prints its plan fixes nothing."""
    mitigation = page_markdown(name).partition("## Mitigation")[2]

    assert "`lineward act" not in mitigation


@pytest.mark.parametrize("name", PAGES)
def test_every_command_in_a_sentence_exists(name: str):
    """Check the command and its options; a sentence may leave arguments to the reader."""
    for arguments in mentioned(page_markdown(name)):
        assert parse(arguments, is_cut=True)


def test_an_invalid_command_would_be_found():
    """Run the mutant with a wrong command and a wrong option."""
    for wrong in (["restrat"], ["why", "orders", "--evidence"], ["act", "replay", "--since", "1"]):
        with pytest.raises(Exception, match=r"(?i)no such"):
            parse(wrong)


@pytest.mark.parametrize("name", PAGES)
def test_shell_blocks_are_shell(name: str):
    """Parse them as bash does; placeholders are quoted variables, so that they can be set."""
    for block in blocks(page_markdown(name), "sh"):
        done = subprocess.run(
            ["bash", "-n"], input=block, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (block, done.stderr)
    for words in simple(page_markdown(name)):
        assert not any(word.startswith("<") or "…" in word for word in words), words


@pytest.mark.parametrize("name", PAGES)
def test_a_block_runs_in_one_place(name: str):
    """Find programs of one place in a block: the image has no `curl`, and a laptop no catalog."""
    for block in blocks(page_markdown(name), "sh"):
        used = {words[0] for words in simple_commands(block)} - _ANYWHERE

        places = (_IN_THE_CONTAINER, _ON_OWN_MACHINE, {"tail"} | _ON_THE_NODE)
        assert any(used <= place for place in places), (block, used)


def test_the_page_on_commands_lists_each_program_by_its_place():
    """Compare its table with the programs of all pages."""
    rows = re.findall(r"(?m)^\| (`.*`) \|.*\|.*\|$", page_markdown("asking").split("## ")[1])
    listed = [set(re.findall(r"`([^`]+)`", row)) for row in rows]

    assert listed == [_IN_THE_CONTAINER, _ON_OWN_MACHINE, _ON_THE_NODE]


def test_every_variable_is_listed():
    """Find each in the table: an unset variable in quotes is an empty argument."""
    section = page_markdown("asking").partition("## Set the variables")[2].partition("## ")[0]
    first = re.findall(r"(?m)^\| ([^|]+) \|", section)
    listed = {name for cell in first for name in re.findall(r"`([A-Z_]+)`", cell)}
    texts = [*map(page_markdown, PAGES), (ROOT / "docs" / "runbooks.md").read_text("utf-8")]

    assert set().union(*map(variables, texts)) - {"PATH"} == listed


def test_the_command_after_a_restore_removes_the_counter_epoch(tmp_path: Path):
    """Run the line of the page on a catalog: its next evaluation then counts in a new epoch."""
    lines = "\n".join(blocks(page_markdown("restoring"), "sh")).splitlines()
    command = next(line for line in lines if "sqlite3" in line)
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as catalog:
        catalog.execute("CREATE TABLE meta (name, value)")
        catalog.executemany("INSERT INTO meta VALUES (?, 1)", [(CATALOG_EPOCH,), ("installed_at",)])
        catalog.commit()
        given = {**os.environ, "LINEWARD_DATA_DIR": str(tmp_path)}
        subprocess.run(["bash", "-c", command], env=given, check=True)

        assert catalog.execute("SELECT name FROM meta").fetchall() == [("installed_at",)]


def test_the_page_on_unknown_roots_has_each_reason():
    """Compare its table with the sentences of messages."""
    rows = re.findall(r"(?m)^\| `(\w+)` \| (.+) \|$", page_markdown("waiting"))

    assert dict(rows) == {each: unknown_root_reason(each) for each in get_args(UnknownReason)}
    assert all(text != each for each, text in rows)


def test_every_query_is_promql(tmp_path: Path):
    """Parse it as Prometheus does."""
    found = [(name, query) for name in PAGES for query in queries(page_markdown(name))]
    rules = [
        {"record": f"page:{name.replace('-', '_')}:{number}", "expr": query}
        for number, (name, query) in enumerate(found)
    ]
    document = {"groups": [{"name": "pages", "rules": rules}]}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(document))
    check = ["promtool", "check", "rules", "rules.yml"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(found) > 60
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def _known_metrics() -> set[str]:
    documented = set(_METRIC.findall((ROOT / "docs" / "metrics.md").read_text("utf-8")))
    exposed = set(re.findall(r"(?m)^# TYPE (\S+)", generate_latest(metrics.REGISTRY).decode()))
    recorded = set(re.findall(r"(?m)^ +- record: (\S+)", rules_of()))
    histograms = {f"{name}_bucket" for name in documented}
    return documented | exposed | recorded | histograms | {OPEN_SERIES, EXPLAINED}


@pytest.mark.parametrize("name", PAGES)
def test_every_metric_is_exposed_or_recorded(name: str):
    """Find each metric: a query over a missing one returns nothing, like a healthy system."""
    named = set(_METRIC.findall(page_markdown(name))) - set(REASONS) - _ORACLES

    assert named <= _known_metrics()


def test_every_setting_exists():
    """Compare with the structs that are read."""
    documented = set(_VARIABLE.findall((ROOT / "docs" / "evidence.md").read_text("utf-8")))
    named = {found for name in PAGES for found in _VARIABLE.findall(page_markdown(name))}

    assert named <= setting_variables() | documented


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_page(name: str):
    """Link own pages only: external pages may disappear."""
    assert set(_LINK.findall(page_markdown(name))) <= page_names()


@pytest.mark.parametrize("name", SHARED)
def test_shared_parts_are_linked(name: str):
    """Find a link to each shared part."""
    assert any(f"]({name})" in page_markdown(other) for other in OWN)


def test_every_address_is_served_at_its_port():
    """Match each path with its port: 8700 collector, 8701 API, 8702 metrics."""
    routes = [re.sub(r"\{[^}]+\}", "[^/]+", route.path) for route in create_app(Settings()).routes]
    for name in PAGES:
        for port, path in _URL.findall(page_markdown(name)):
            if port == "0":
                assert path in ("/livez", "/readyz", "/metrics"), (name, path)
            elif port == "1":
                assert any(re.fullmatch(route, path) for route in routes), (name, path)
            else:
                assert path == "/metrics", (name, path)


def test_the_rules_link_to_the_pages():
    """Serve the path in `runbook_url`, for each alert."""
    groups = yaml.safe_load(rules_of())["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    served = {f"{RUNBOOKS_PATH}/{name}" for name in page_names()}

    urls = {rule["annotations"]["runbook_url"] for rule in alerts}
    assert {url.removeprefix(RUNBOOKS.removesuffix(RUNBOOKS_PATH)) for url in urls} <= served


def test_no_page_name_leads_out_of_the_folder():
    """Look the name up, and open no path from its text."""
    for name in ("../library", "", ".", "failed.md", "/etc/passwd", "failed\0"):
        with pytest.raises(UnknownPageError):
            page_markdown(name)


def test_the_index_lists_every_page_once():
    """Read all of them, by the path that is served."""
    assert sorted(_LINK.findall(index_markdown())) == sorted(
        f"{RUNBOOKS_PATH}/{name}" for name in PAGES
    )


@pytest.mark.parametrize("name", sorted(page_names()))
def test_a_block_with_an_action_is_marked_as_a_dry_run(name):
    """Find the note below each block with `lineward act` and without `--yes`, and nowhere else."""
    blocks = re.findall(r"(?ms)^ *```\w*\n(.*?)^ *```", page_markdown(name))
    lines = [block.splitlines() for block in blocks]
    dry = [any("lineward act " in each and "--yes" not in each for each in one) for one in lines]

    assert page_html(name).count("is a dry run") == sum(dry)
