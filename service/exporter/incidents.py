"""Metrics of incidents: open ones, explained time, verdicts, and suppression windows."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from alerts.operator_actions.verdicts import METRIC as VERDICTS
from alerts.operator_actions.verdicts import count_verdicts
from lineage.catalog.meta_keys import EPOCH
from lineage.catalog.queries import IS_OPEN, IS_UNRESOLVED, MOST_SEVERE_FIRST
from lineage.catalog.reader import CatalogReader
from lineage.states import SLI_BY_ID
from service.queries.suppressions import suppressions

if TYPE_CHECKING:
    from lineage.policy.model import Policy

MOST_OPEN = 500
# Of a part of the service itself, which part.
_OPEN = f"""
    SELECT incident_id, CASE WHEN root_entity = 'service' THEN root_name ELSE root_kind END
        AS root_kind, severity, coalesce(owner, '') AS owner
    FROM incident i WHERE {IS_OPEN} AND is_remembered {MOST_SEVERE_FIRST} LIMIT :most
"""  # noqa: S608 - constants only
_COUNTS = f"""
    SELECT state, severity, count(*) FROM incident
    WHERE {IS_UNRESOLVED} AND is_remembered GROUP BY 1, 2
"""  # noqa: S608 - a constant
_EXPLAINED = f"""
    SELECT e.sli, e.tier, m.value, e.value FROM sli_explained e
    JOIN meta m ON m.name = '{EPOCH}' ORDER BY 1, 2 LIMIT :most
"""  # noqa: S608 - a name of ours
_STATES = ("open", "acknowledged", "suppressed")
MOST_WINDOWS = 50


def incident_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield families of the catalog; an incident stays open until it is ended."""
    is_open = GaugeMetricFamily(
        "lineage_incident_open",
        f"1 for each open incident: the most severe {MOST_OPEN}.",
        labels=("incident", "root_kind", "severity", "owner"),
    )
    for row in reader.rows(_OPEN, {"most": MOST_OPEN}):
        is_open.add_metric((row.incident_id, row.root_kind, row.severity, row.owner), 1.0)
    counts = GaugeMetricFamily(
        "lineage_incidents", "Unresolved incidents.", labels=("state", "severity")
    )
    found = {(state, severity): count for state, severity, count in reader.rows(_COUNTS)}
    for state in _STATES:
        for severity in ("page", "ticket"):
            counts.add_metric((state, severity), float(found.get((state, severity), 0)))
    yield from (is_open, counts, _explained(reader))


def _explained(reader: CatalogReader) -> Metric:
    family = CounterMetricFamily(
        "lineage_sli_explained",
        "Bad part of the SLI that belongs to an open incident, in the unit of lineage_sli_total.",
        labels=("sli", "tier", "epoch"),
    )
    for sli, tier, epoch, value in reader.rows(_EXPLAINED, {"most": MOST_OPEN}):
        family.add_metric((SLI_BY_ID[sli].name, tier, epoch), value)
    return family


def verdict_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield verdicts by kind of fault: precision is 1 - false_alarm / judged."""
    family = CounterMetricFamily(
        VERDICTS, "Incidents with a verdict of a person, by kind.", labels=("kind", "verdict")
    )
    for each in count_verdicts(reader):
        family.add_metric((each.kind, each.verdict), each.count)
    yield family


def window_figures(reader: CatalogReader, policy: "Policy", now: datetime) -> Iterator[Metric]:
    """Yield active windows by name, those that end first; without one, the family is empty."""
    family = GaugeMetricFamily(
        "lineage_suppression_active",
        f"Active suppression windows of this name; the {MOST_WINDOWS} that end first.",
        labels=("name",),
    )
    rows = suppressions(reader, policy, now).suppressions
    names = Counter(row.name for row in rows if row.state == "active")
    for name, count in list(names.items())[:MOST_WINDOWS]:
        family.add_metric((name,), float(count))
    yield family
