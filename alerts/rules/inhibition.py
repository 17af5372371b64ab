"""Inhibition rules: an alert that follows from another is muted by it."""

from typing import Any, Final

from alerts.own_parts import OUTAGE_PARTS, OWN_ROOTS
from alerts.rules.burn_windows import ESCALATION, AlertSeverity
from alerts.rules.incident_alerts import INCIDENT_ALERT_NAMES
from alerts.rules.model import OUTAGE_LABEL, OUTSIDE
from alerts.rules.promql import equal, none_of, one_of, unequal
from alerts.rules.service_alert_table import INGESTING, ROLE_FAILING
from alerts.rules.service_alerts import SCRAPE_DOWN
from alerts.rules.zero_budget import UNAUTHORIZED_ALERT
from lineage.states import INGESTION_LAG, PAGE, TICKET, UNAUTHORIZED_ACCESS

_INCIDENT = equal("alertname", INCIDENT_ALERT_NAMES[PAGE])
_OUTAGES: Final = (
    [equal("root", OUTAGE_LABEL)],
    [_INCIDENT, one_of("root_kind", OUTAGE_PARTS)],
)
# While no lineage comes in, states of datasets are unknown; afterwards lineage is late. No outage
# explains an incident about Lineward itself.
DATASET_ALERTS: Final = (
    [equal("area", "datasets")],
    [unequal("incident", ""), none_of("root_kind", OWN_ROOTS)],
)
_BEHIND_OUTAGE: Final = (*DATASET_ALERTS, [equal("sli", INGESTION_LAG.name)])
# Their incident mutes the alert on the failing role. For other roles both notify.
_ROLES_WITH_ONE_MESSAGE: Final = (*OUTAGE_PARTS, "marquez")
_BLIND: Final = ("LineageEvaluationAbsent", "LineageSeriesAbsent")


def build_inhibitions() -> list[dict[str, Any]]:
    """Return the entries of Alertmanager's `inhibit_rules`."""
    outages = [_rule(source, target) for source in _OUTAGES for target in _BEHIND_OUTAGE]
    roots = equal("root", OUTAGE_LABEL)
    return [
        *outages,
        # The incident has its owner and its list; alerts that the service cannot send stay.
        _rule([_INCIDENT, one_of("root_kind", OUTAGE_PARTS)], [roots, equal("reach", "")]),
        # What pages already is a failure of one of these, seen from its effect.
        _rule([roots], [_named(ROLE_FAILING), one_of("role", INGESTING)]),
        *(
            _rule(
                [_INCIDENT, equal("root_kind", role)], [_named(ROLE_FAILING), equal("role", role)]
            )
            for role in _ROLES_WITH_ONE_MESSAGE
        ),
        _rule(
            [_INCIDENT, equal("root_kind", UNAUTHORIZED_ACCESS.name)], [_named(UNAUTHORIZED_ALERT)]
        ),
        _rule(
            [_named(SCRAPE_DOWN), equal("reach", OUTSIDE["reach"])], [one_of("alertname", _BLIND)]
        ),
        _rule(_burning(PAGE), _burning(TICKET), ["sli", "tier"]),
        # An owner of both engineering and platform gets one message for a budget.
        _rule(_burning(PAGE), _burning(ESCALATION), ["sli", "tier", "owner"]),
        _rule(_burning(ESCALATION), _burning(TICKET), ["sli", "tier", "owner"]),
    ]


def _burning(severity: AlertSeverity) -> list[str]:
    return [equal("severity", severity), unequal("sli", "")]


def _named(alert: str) -> str:
    return equal("alertname", alert)


def _rule(source: list[str], target: list[str], same: list[str] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"source_matchers": source, "target_matchers": target}
    return {**found, "equal": same} if same else found
