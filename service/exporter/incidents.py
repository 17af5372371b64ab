"""Metrics of incidents: open ones, mean times, explained time, verdicts, and suppression windows.

All are read from the catalog: a restarted service shows the same values.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from alerts.operator_actions.verdicts import VERDICTS_METRIC, count_verdicts
from alerts.root_cause.faults import LABEL_OF_ROOT
from lineage.catalog.meta_keys import CATALOG_EPOCH
from lineage.catalog.queries import IS_OPEN, IS_UNRESOLVED, MOST_SEVERE_FIRST
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, pairs_of
from lineage.process.clock import SECOND_MICROS, to_micros
from lineage.states import CRITICAL, SLI_BY_ID
from service.exporter.metric_rows import WINDOWS_DAYS
from service.queries.suppressions import list_suppressions

if TYPE_CHECKING:
    from lineage.policy.model import Policy

MOST_OPEN = 500
MOST_DETAILED = 200  # of those of `lineage_incident_open`, four series each
MOST_WINDOWS = 50
MEAN_DAYS = 30
_STATES = ("open", "acknowledged", "suppressed")
_SEVERITIES = ("page", "ticket")
_OPEN = f"""
    SELECT incident_id, {LABEL_OF_ROOT} AS root_kind, severity, coalesce(owner, '') AS owner
    FROM incident i WHERE {IS_OPEN} AND is_remembered {MOST_SEVERE_FIRST} LIMIT :most
"""  # noqa: S608 - constants only
_COUNTS = f"""
    SELECT state, severity, count(*) FROM incident
    WHERE {IS_UNRESOLVED} AND is_remembered GROUP BY 1, 2
"""  # noqa: S608 - a constant
_EXPLAINED = f"""
    SELECT e.sli, e.tier, m.value, e.value FROM sli_explained e
    JOIN meta m ON m.name = '{CATALOG_EPOCH}' ORDER BY 1, 2 LIMIT :most
"""  # noqa: S608 - a name of ours
_DETAILED = f"""
SELECT incident_id, root_kind, root_namespace, root_name, onset, hit_at FROM incident i
WHERE {IS_OPEN} AND is_remembered {MOST_SEVERE_FIRST} LIMIT :most
"""  # noqa: S608 - constants only
_AFFECTED = f"""
SELECT affected.incident_id, count(*) FROM (
  SELECT incident_id, dataset_key FROM incident_member
  WHERE incident_id IN (:keys) AND left_at IS NULL
  UNION SELECT incident_id, dataset_key FROM incident_impact WHERE incident_id IN (:keys)
) AS affected JOIN dataset_policy p
  ON p.dataset_key = affected.dataset_key AND p.tier = '{CRITICAL}'
GROUP BY affected.incident_id
"""  # noqa: S608 - a word of ours
# What was merged into another was no incident of its own.
_OPENED = """
SELECT severity, count(*) FROM incident
WHERE opened_at >= :since AND merged_into IS NULL GROUP BY severity
"""
# A false alarm had nothing to detect and nothing to resolve.
_MEANS = """
SELECT severity, avg({until} - {begin}) FROM incident
WHERE {until} >= :since AND {begin} IS NOT NULL AND merged_into IS NULL
AND (is_false_alarm IS NULL OR NOT is_false_alarm) GROUP BY severity
"""
_PHASES = {
    "found": ("onset", "opened_at"),
    "notified": ("fault_at", "accepted_at"),
    "resolved": ("onset", "resolved_at"),
}
# Exported beside the new names in this release, so that dashboards of users go on.
_OLD_PHASES = {"notified": "told", "resolved": "mended"}


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
        VERDICTS_METRIC,
        "Incidents with a verdict of a person, by kind.",
        labels=("kind", "verdict"),
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
    rows = list_suppressions(reader, policy, now).suppressions
    names = Counter(row.name for row in rows if row.state == "active")
    for name, count in list(names.items())[:MOST_WINDOWS]:
        family.add_metric((name,), float(count))
    yield family


def incident_figures(reader: CatalogReader, now: datetime) -> Iterator[Metric]:
    """Yield the metrics; the mean of no incidents is absent, not 0."""
    rows = reader.rows(_DETAILED, {"most": MOST_DETAILED})
    yield from _each(rows, pairs_of(rows_for(reader, _AFFECTED, [row[0] for row in rows])))
    yield _opened(reader, now)
    yield _means(reader, now)


def _each(rows: list[Row], critical: dict[str, int]) -> Iterator[Metric]:
    labels = ("incident",)
    root = GaugeMetricFamily(
        "lineage_incident_root",
        "1: root of an open incident.",
        labels=("incident", "kind", "root_namespace", "root"),
    )
    onset = GaugeMetricFamily(
        "lineage_incident_onset_timestamp_seconds", "Start of the incident.", labels=labels
    )
    hit = GaugeMetricFamily(
        "lineage_incident_hit_timestamp_seconds",
        "Time at which the first dataset of a paging tier is overdue.",
        labels=labels,
    )
    affected = GaugeMetricFamily(
        "lineage_incident_critical_datasets",
        "Critical datasets that are affected: bad because of the root, or downstream of it.",
        labels=labels,
    )
    for number, kind, namespace, name, began, hit_at in rows:
        root.add_metric((number, kind, namespace, name), 1.0)
        onset.add_metric((number,), began / SECOND_MICROS)
        affected.add_metric((number,), float(critical.get(number, 0)))
        if hit_at is not None:
            hit.add_metric((number,), hit_at / SECOND_MICROS)
    yield from (root, onset, hit, affected)


def _opened(reader: CatalogReader, now: datetime) -> Metric:
    family = GaugeMetricFamily(
        "lineage_incidents_opened",
        "Incidents opened in the window, by current severity.",
        labels=("severity", "window"),
    )
    for window, days in WINDOWS_DAYS.items():
        since = to_micros(now - timedelta(days=days))
        found = pairs_of(reader.rows(_OPENED, {"since": since}))
        for severity in _SEVERITIES:
            family.add_metric((severity, window), float(found.get(severity, 0)))
    return family


def _means(reader: CatalogReader, now: datetime) -> Metric:
    family = GaugeMetricFamily(
        "lineage_incident_mean_seconds",
        f"Mean time from the fault until it was detected, notified, resolved; {MEAN_DAYS} days."
        " The phases `told` and `mended` are old names of `notified` and `resolved`, and will go.",
        labels=("phase", "severity"),
    )
    since = {"since": to_micros(now - timedelta(days=MEAN_DAYS))}
    for phase, (begin, until) in _PHASES.items():
        for severity, mean in reader.rows(_MEANS.format(begin=begin, until=until), since):
            for name in (phase, _OLD_PHASES.get(phase)):
                if name is not None:
                    family.add_metric((name, severity), float(mean) / SECOND_MICROS)
    return family
