"""Prometheus rules of a policy, as a file."""

from typing import Final

import msgspec

from alerts.rules.budgets import SUBJECTS, Budget, explain_unrendered, load_budgets
from alerts.rules.burn_windows import ESCALATION
from alerts.rules.burns import (
    ESCALATED,
    EXHAUSTED,
    burn_alerts,
    burn_records,
    escalation_alerts,
    exhausted_alerts,
)
from alerts.rules.incident_alerts import incident_alerts
from alerts.rules.model import AlertRule, PrometheusGroup, RecordingRule, to_yaml
from alerts.rules.recordings import budget_records, quick_records, slow_records
from alerts.rules.service_alerts import ScrapeJobs, service_alerts, watchdog
from alerts.rules.zero_budget import OBJECTIVE_BROKEN, zero_budget_alerts, zero_budget_records
from lineage.policy.model import Policy
from lineage.states import PAGE, TICKET

# Below the 5 minutes after which Prometheus forgets a value.
_SLOW_INTERVAL: Final = "2m"
_HEAD = (
    "Prometheus' rules, by `lineward render rules`: change the policy instead.",
    "The error budget needs 30 days of samples: --storage.tsdb.retention.time=31d or more.",
)


class AlertOwners(msgspec.Struct, frozen=True, kw_only=True):
    """Owners of alerts without an owner of their own.

    Attributes:
        platform: of Lineward itself and of budgets over many datasets.
        engineering: of budgets that burn on while incidents are open.
    """

    platform: str = "platform"
    engineering: str = "platform"


def build_groups(
    budgets: list[Budget], people: AlertOwners, jobs: ScrapeJobs
) -> list[PrometheusGroup]:
    """Return all rules; those that look back for days are evaluated less often."""
    return [
        PrometheusGroup("lineward-watchdog", (watchdog(),)),
        PrometheusGroup("lineward-incidents", tuple(incident_alerts())),
        PrometheusGroup("lineward-health", service_alerts(people.platform, jobs)),
        PrometheusGroup("lineward-burn", _burn_rules(budgets, people)),
        PrometheusGroup("lineward-tickets", _ticket_rules(budgets, people), _SLOW_INTERVAL),
        PrometheusGroup("lineward-budgets", _budget_rules(budgets, people), _SLOW_INTERVAL),
    ]


def _burn_rules(
    budgets: list[Budget], people: AlertOwners
) -> tuple[RecordingRule | AlertRule, ...]:
    return (
        *quick_records(),
        *zero_budget_records(budgets),
        *zero_budget_alerts(budgets, people.platform),
        *burn_records(budgets, PAGE, ESCALATION),
        *burn_alerts(budgets, PAGE, people.platform),
        *escalation_alerts(budgets, people.engineering),
    )


def _ticket_rules(
    budgets: list[Budget], people: AlertOwners
) -> tuple[RecordingRule | AlertRule, ...]:
    return (
        *slow_records(),
        *burn_records(budgets, TICKET),
        *burn_alerts(budgets, TICKET, people.platform),
    )


def _budget_rules(
    budgets: list[Budget], people: AlertOwners
) -> tuple[RecordingRule | AlertRule, ...]:
    return (*budget_records(budgets), *exhausted_alerts(budgets, people.platform))


def rule_file(policy: Policy, *, people: AlertOwners, jobs: ScrapeJobs, runbooks: str) -> str:
    """Return YAML for Prometheus 2.42 and newer; the same policy gives the same bytes."""
    return render_groups(build_groups(load_budgets(policy), people, jobs), runbooks)


def render_groups(found: list[PrometheusGroup], runbooks: str) -> str:
    """Return groups as YAML; `runbooks` is the base URL of the alerts' pages."""
    return to_yaml({"groups": [group.document(runbooks) for group in found]}, _HEAD)


def describe_unrendered(policy: Policy) -> list[str]:
    """Return a sentence for each budget with an alert that is not rendered, and why."""
    return list(explain_unrendered(load_budgets(policy)))


def alert_names() -> list[str]:
    """Return every name that an alert can have, whatever the policy; each has a runbook."""
    of_slis = {f"{one.stem}Burn" for one in SUBJECTS.values() if one.area != "access"}
    found = build_groups(load_budgets(Policy()), AlertOwners(), ScrapeJobs())
    rendered = {rule.name for group in found for rule in group.rules if isinstance(rule, AlertRule)}
    return sorted({*of_slis, *rendered, ESCALATED, EXHAUSTED, OBJECTIVE_BROKEN})
