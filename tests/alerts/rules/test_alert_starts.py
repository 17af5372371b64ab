"""Start of an alert in its text: that of its own series, not of another series of its rule."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.alerts.rules.promtool import At, ExpectedAlert, alert_differences, rules_of

_FIRST, _SECOND = "1970-01-01 00:11:00 +0000 UTC", "1970-01-01 01:41:00 +0000 UTC"
_START = re.compile(r"\{\{ with query .*ALERTS_FOR_STATE.*?\{\{ end \}\}")
_MATCHERS = re.compile(r"max\(ALERTS_FOR_STATE\{(.*?)\}\)")
_BY = re.compile(r"(?m)^\w+ by \((.*?)\)")
_LABELS = re.compile(r'(\w+)="([^"]+)"')
_OPEN = 'lineage_incident_open{{incident="{}",root_kind="slow",severity="page",owner="shop"}}'
# Alert, series of a value of its label, healthy and bad, and two values of the label.
_CASES = [
    ("LineageRoleFailing", 'lineage_role_working{{role="{}"}}', (1, 0), ("marquez", "kafka")),
    ("PolicyRejected", 'lineage_policy_rejected{{role="{}"}}', (0, 1), ("service", "pipeline")),
    ("PolicyNotInForce", 'lineage_policy_in_force{{role="{}"}}', (1, 0), ("service", "pipeline")),
    ("LinewardScrapeDown", 'up{{job="{}"}}', (1, 0), ("lineward", "lineward-collector")),
    ("LinewardIncidentPage", _OPEN, (0, 1), ("i-1", "i-2")),
]


def _rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(rules_of())["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def _with_start_alone(name: str) -> list[dict[str, Any]]:
    """Return the rules of an alert, with the template of the start as both texts."""
    found = [rule for rule in _rules() if rule["alert"] == name]
    for rule in found:
        (start,) = _START.findall(rule["annotations"]["description"])
        rule["annotations"] |= {"summary": start, "description": start}
    return found


def _expected(rules: list[dict[str, Any]], series: str, start: str) -> ExpectedAlert:
    own = dict(_LABELS.findall(series))
    of_value = [one for one in rules if any(f'"{value}"' in one["expr"] for value in own.values())]
    rule = (of_value or rules)[-1]  # the last rule of the roles is that of all other roles
    return ExpectedAlert(rule["alert"], {**own, **rule["labels"]}, start, start)


@pytest.mark.parametrize(
    ("name", "series", "states", "values"), _CASES, ids=[one[0] for one in _CASES]
)
def test_each_series_of_a_rule_has_its_own_start(
    tmp_path: Path, name: str, series: str, states: tuple[int, int], values: tuple[str, str]
):
    """Fail the first series from minute 11, and the second from minute 101.

    Mutant: a start without the label of the series says 01:41 of both.
    """
    rules, (good, bad) = _with_start_alone(name), states
    first, second = map(series.format, values)
    text = yaml.safe_dump({"groups": [{"name": "starts", "rules": rules}]})
    given = {first: f"{good}x10 {bad}x199", second: f"{good}x100 {bad}x109"}
    one, other = _expected(rules, first, _FIRST), _expected(rules, second, _SECOND)

    moments = (At(90, (one,), (name,)), At(109, (one, other), (name,)))
    assert alert_differences(tmp_path, text, given, *moments) == ""


def test_each_start_is_of_the_labels_of_its_series():
    """Find each label of the series in the query of the start, in all rules.

    The id of an incident stands for the other labels of its series.
    """
    for rule in _rules():
        labels = {each for one in _BY.findall(rule["expr"]) for each in one.split(", ")}
        for matchers in _MATCHERS.findall(rule["annotations"]["description"]):
            assert (labels & {"incident"} or labels) <= set(re.findall(r"(\w+)=", matchers)), rule
