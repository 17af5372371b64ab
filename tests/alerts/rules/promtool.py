"""Real promtool, which evaluates rules on series, minute by minute."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import yaml

from alerts.rules.budgets import Budget, load_budgets
from alerts.rules.rule_file import AlertOwners, alert_names, build_groups, render_groups
from alerts.rules.service_alerts import ScrapeJobs
from lineage.policy import DEFAULT, Policy
from lineage.states import SLI_BY_NAME

RUNBOOKS = "https://lineward.example/runbooks"
PEOPLE = AlertOwners(platform="platform", engineering="data-engineering")
WATCHDOG = "Watchdog"
_COLLECT_RARELY: Final = {"GOGC": "400"}  # garbage collection took a fifth of promtool's CPU
Series = Mapping[str, str]  # series → its values, one a minute


class ExpectedAlert(msgspec.Struct, frozen=True):
    """Alert that is expected, with all its labels and texts."""

    name: str
    labels: dict[str, str]
    summary: str
    description: str


class At(msgspec.Struct, frozen=True):
    """Alerts of one minute; of the names that are given, no others."""

    minute: int
    alerts: tuple[ExpectedAlert, ...] = ()
    names: tuple[str, ...] = ()  # none: all that there are, but the Watchdog


def rules_of(policy: Policy = DEFAULT) -> str:
    """Return the rules of a policy, for these owners."""
    return only(*load_budgets(policy))


def only(*asked: Budget, named: tuple[str, ...] = ()) -> str:
    """Return the rules of some budgets, and of the groups of these names: days pass quickly."""
    found = [
        one
        for one in build_groups(list(asked), PEOPLE, ScrapeJobs())
        if not named or one.name in named
    ]
    return render_groups(found, RUNBOOKS)


def judging_budgets_at_once(rules: str) -> str:
    """Return the rules for tests of minutes: a budget needs data of 15 days."""
    return re.sub(r"\s+and\s+sli_tier:lineage_sli_observed:ratio30d\S+ >= 0\.5", "", rules)


def budget(sli: str, tier: str) -> Budget:
    """Return a budget of the default objectives."""
    found = [
        one for one in load_budgets(DEFAULT) if (one.sli, one.tier) == (SLI_BY_NAME[sli], tier)
    ]
    return found[0]


def alert_differences(
    folder: Path, rules: str, series: Series, *moments: At, each: str = "1m"
) -> str:
    """Return how promtool's alerts differ from the expected ones; empty when they do not.

    Series are scraped and rules evaluated `each` so long.
    """
    tests = [test for moment in moments for test in _expectations(moment)]
    return _run(folder, rules, series, {"interval": each, "alert_rule_test": tests})


def asked(  # noqa: PLR0913 - what promtool is given
    folder: Path, rules: str, series: Series, minute: int, query: str, *rows: str, each: str = "1m"
) -> str:
    """Return how a query's result differs from these rows, each `series value`."""
    return asked_at_once(folder, rules, series, (minute, query, rows), each=each)


def asked_at_once(
    folder: Path,
    rules: str,
    series: Series,
    *queries: tuple[int, str, Sequence[str]],
    each: str = "1m",
) -> str:
    """Return what differs in the answers of queries, each with its minute and its rows.

    promtool evaluates all minutes up to the last one, once for all queries.
    """
    tests = [
        {"expr": query, "eval_time": f"{minute}m", "exp_samples": [_sample(row) for row in rows]}
        for minute, query, rows in queries
    ]
    return _run(folder, rules, series, {"interval": each, "promql_expr_test": tests})


def _sample(row: str) -> dict[str, object]:
    labels, value = row.rsplit(" ", 1)
    return {"labels": labels, "value": float(value)}


def _run(folder: Path, rules: str, series: Series, test: dict[str, object]) -> str:
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    inputs = [{"series": name, "values": values} for name, values in series.items()]
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": test["interval"],
        # By default promtool changes the order, and with it what groups see of each other.
        "group_eval_order": re.findall(r"(?m)^- name: (.+)$", rules),
        "tests": [{"input_series": inputs, **test}],
    }
    (folder / "test.yml").write_text(yaml.safe_dump(document), encoding="utf-8")
    done = subprocess.run(
        ["promtool", "test", "rules", "test.yml"],
        cwd=folder,
        env={**os.environ, **_COLLECT_RARELY},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _expectations(moment: At) -> list[dict[str, object]]:
    names = moment.names or tuple(name for name in alert_names() if name != WATCHDOG)
    return [
        {
            "eval_time": f"{moment.minute}m",
            "alertname": name,
            "exp_alerts": [_expected_alert(one) for one in moment.alerts if one.name == name],
        }
        for name in dict.fromkeys((*names, *(one.name for one in moment.alerts)))
    ]


def _expected_alert(one: ExpectedAlert) -> dict[str, object]:
    texts = {"summary": one.summary, "description": one.description}
    return {
        "exp_labels": one.labels,
        "exp_annotations": {**texts, "runbook_url": f"{RUNBOOKS}/{one.name}"},
    }
