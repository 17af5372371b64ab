"""Table of `docs/alerting.md` on what is muted, compared with the rules of Alertmanager."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from alerts.own_parts import OUTAGE_PARTS, ROLES
from alerts.rules.budgets import load_budgets
from alerts.rules.inhibition import build_inhibitions
from alerts.rules.model import OUTAGE_LABEL, AlertRule
from alerts.rules.rule_file import AlertOwners, build_groups
from alerts.rules.service_alerts import ScrapeJobs
from lineage.policy import DEFAULT
from tests.alerts.rules.alertmanagers import Labels

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "alerting.md").read_text("utf-8")
OUTAGE = 'an alert with `root="ingestion"` fires'
PARTS = "an incident of collector, pipeline or service is open"
_JOBS = {"lineward": "service", "lineward-collector": "collector"}
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"(.*)"')
_NAME = re.compile(r"`([A-Z]\w+)`((?: of the \w+(?: and of the \w+)?)?)")


def _incident(kind: str) -> Labels:
    return {"alertname": "LinewardIncidentPage", "incident": "i-1", "root_kind": kind}


# Words of a condition, and an alert that fulfils it.
_SOURCES = [
    (OUTAGE, {"root": OUTAGE_LABEL}),
    *((PARTS, _incident(part)) for part in OUTAGE_PARTS),
    ("unauthorized access", _incident("unauthorized_access")),
    ("`LinewardScrapeDown`", {"alertname": "LinewardScrapeDown", "reach": "outside"}),
]


def _rows() -> dict[str, str]:
    _, _, table = DOCUMENT.partition("| while | these are muted |\n|---|---|\n")
    return dict(re.findall(r"(?m)^\| (.+?) \| (.+) \|$", table.partition("\n\n")[0]))


def _own_alerts() -> Iterator[Labels]:
    """Return the alerts that are not on datasets; one for each role of an alert on roles."""
    for group in build_groups(load_budgets(DEFAULT), AlertOwners(), ScrapeJobs()):
        for rule in group.rules:
            if isinstance(rule, AlertRule) and rule.about.get("area") in {"service", "access"}:
                labels = {"alertname": rule.name, "severity": rule.severity or "", **rule.about}
                for role in re.findall(r'up\{job="([^"]+)"\} *\)', rule.expr) or _roles(rule):
                    yield {**labels, "role": _JOBS.get(role, role)}


def _roles(rule: AlertRule) -> tuple[str, ...]:
    return ROLES if rule.name == "LineageRoleFailing" else ("",)


def _holds(matcher: str, labels: Labels) -> bool:
    found = _MATCHER.fullmatch(matcher)
    assert found is not None
    name, operator, value = found.groups()
    own = labels.get(name, "")
    is_same = re.fullmatch(value, own) is not None if "~" in operator else value == own
    return is_same != operator.startswith("!")


def _muted_by(source: Labels) -> set[tuple[str, str]]:
    """Return the names of alerts that an alert mutes, each with its role, or an empty text."""
    targets = [
        rule["target_matchers"]
        for rule in build_inhibitions()
        if "equal" not in rule and all(_holds(each, source) for each in rule["source_matchers"])
    ]
    return {
        (labels["alertname"], labels["role"])
        for labels in _own_alerts()
        if any(all(_holds(each, labels) for each in matchers) for matchers in targets)
    }


def _documented(words: str) -> set[tuple[str, str]]:
    """Return the names in the rows whose condition has these words, each with its roles."""
    cells = [muted for condition, muted in _rows().items() if words in condition]
    assert cells
    return {
        (name, role)
        for name, roles in _NAME.findall(" ".join(cells))
        for role in re.findall(r"of the (\w+)", roles) or [""]
    }


@pytest.mark.parametrize(("words", "source"), _SOURCES)
def test_each_condition_lists_what_it_mutes(words: str, source: Labels):
    """Compare with the rules: no alert is missing, and none is listed that notifies.

    Mutant: "the service's own alerts" in place of the names of five of them.
    """
    by_its_role = ("LineageRoleFailing", source.get("root_kind", ""))  # has a row of its own
    muted = _muted_by(source) - {by_its_role}

    assert muted == _documented(words)


def test_the_incident_of_a_role_mutes_its_failure_if_the_table_says_so():
    """Compare the roles of the condition, and those of which both notify."""
    ((condition, cell),) = (row for row in _rows().items() if "or marquez" in row[0])
    muting = {role for role in ROLES if ("LineageRoleFailing", role) in _muted_by(_incident(role))}

    assert muting == {role for role in ROLES if role in condition}
    assert set(ROLES) - muting == set(re.findall(r"`([a-z]+)`", cell))


def test_each_rule_without_labels_to_compare_has_a_row():
    """Find a source of the table for each rule; other rules are about one budget."""
    sources = [source for _, source in _SOURCES] + [_incident(role) for role in ROLES]
    for rule in build_inhibitions():
        if "equal" not in rule:
            matchers = rule["source_matchers"]
            assert any(all(_holds(each, one) for each in matchers) for one in sources), rule


def test_the_alerts_of_an_outage_are_listed():
    """Compare the sentence below the table with the label `root`."""
    (line,) = re.findall(r'(?m)^These alerts have `root="ingestion"`: (.*)$', DOCUMENT)

    outage = {one["alertname"] for one in _own_alerts() if one.get("root") == OUTAGE_LABEL}
    assert set(re.findall(r"`(\w+)`", line)) == outage
