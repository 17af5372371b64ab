"""The whole file of Prometheus rules of one policy."""

from typing import Final

import msgspec

from alerts.rules.budgets import SUBJECTS, Budget, budgets, unrendered
from alerts.rules.burn_records import burn_records
from alerts.rules.burns import ESCALATED, EXHAUSTED, burns, escalations, exhausted
from alerts.rules.health import Jobs, health, watchdog
from alerts.rules.incident_alerts import incidents
from alerts.rules.model import Alert, Group, Record, as_yaml
from alerts.rules.outward import outward
from alerts.rules.recordings import budget_records, quick_records, slow_records
from alerts.rules.zero_budget import BROKEN, strict_alerts, strict_records
from alerts.rules.burn_windows import ESCALATION, PAGE, TICKET
from lineage.policy.model import Policy

# Below the 5 minutes after which Prometheus forgets a value.
_SLOW_INTERVAL: Final = "2m"
_HEAD = (
    "Prometheus' rules, by `lineward render rules`: change the policy instead.",
    "The error budget needs 30 days of samples: --storage.tsdb.retention.time=31d or more.",
)


class People(msgspec.Struct, frozen=True, kw_only=True):
    """Who is told of what has no owner of its own.

    Attributes:
        platform: of Lineward itself and of budgets over many datasets.
        engineering: of budgets that burn on while incidents are open.
    """

    platform: str = "platform"
    engineering: str = "platform"


def groups(asked: list[Budget], people: People, jobs: Jobs) -> list[Group]:
    """All rules; those that look back for days are evaluated less often."""
    return [
        Group("lineward-watchdog", (watchdog(),)),
        Group("lineward-incidents", tuple(incidents())),
        Group("lineward-health", _health(people.platform, jobs)),
        Group("lineward-burn", _quick(asked, people)),
        Group("lineward-tickets", _slow(asked, people), _SLOW_INTERVAL),
        Group("lineward-budgets", _budgets(asked, people), _SLOW_INTERVAL),
    ]


def _health(owner: str, jobs: Jobs) -> tuple[Alert, ...]:
    return (*health(owner, jobs), *outward(owner))


def _quick(asked: list[Budget], people: People) -> tuple[Record | Alert, ...]:
    return (
        *quick_records(),
        *strict_records(asked),
        *strict_alerts(asked, people.platform),
        *burn_records(asked, PAGE, ESCALATION),
        *burns(asked, PAGE, people.platform),
        *escalations(asked, people.engineering),
    )


def _slow(asked: list[Budget], people: People) -> tuple[Record | Alert, ...]:
    return (
        *slow_records(),
        *burn_records(asked, TICKET),
        *burns(asked, TICKET, people.platform),
    )


def _budgets(asked: list[Budget], people: People) -> tuple[Record | Alert, ...]:
    return (*budget_records(asked), *exhausted(asked, people.platform))


def rule_file(policy: Policy, *, people: People, jobs: Jobs, runbooks: str) -> str:
    """YAML as Prometheus 2.42 and newer read it; the same policy is the same bytes."""
    return written(groups(budgets(policy), people, jobs), runbooks)


def written(found: list[Group], runbooks: str) -> str:
    """Groups as a file; `runbooks` is the URL that the alerts' pages are below."""
    return as_yaml({"groups": [group.document(runbooks) for group in found]}, _HEAD)


def notes(policy: Policy) -> list[str]:
    """A sentence for each budget of which some rule is not rendered, and why."""
    return list(unrendered(budgets(policy)))


def alert_names() -> list[str]:
    """Every name that an alert can have, whatever the policy; each has a runbook."""
    of_slis = {f"{one.stem}Burn" for one in SUBJECTS.values() if one.area != "access"}
    found = groups(budgets(Policy()), People(), Jobs())
    rendered = {rule.name for group in found for rule in group.rules if isinstance(rule, Alert)}
    return sorted({*of_slis, *rendered, ESCALATED, EXHAUSTED, BROKEN})
