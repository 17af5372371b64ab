"""Metrics of each open incident, and mean times to detect, notify and resolve.

Read from the table of incidents only: a restarted service shows the same values.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.queries import IS_OPEN, MOST_SEVERE_FIRST
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, pairs_of
from lineage.process.clock import SECOND_MICROS, to_micros
from lineage.states import CRITICAL

MOST_DETAILED = 200  # of those of `lineage_incident_open`, four series each
MEAN_DAYS = 30
WINDOWS_DAYS = {"1d": 1, "7d": 7, "30d": 30}
_SEVERITIES = ("page", "ticket")
_OPEN = f"""
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
    "told": ("fault_at", "accepted_at"),
    "mended": ("onset", "resolved_at"),
}


def incident_figures(reader: CatalogReader, now: datetime) -> Iterator[Metric]:
    """Yield the metrics; the mean of no incidents is absent, not 0."""
    rows = reader.rows(_OPEN, {"most": MOST_DETAILED})
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
        f"Mean time from the fault until it was detected, notified, resolved; {MEAN_DAYS} days.",
        labels=("phase", "severity"),
    )
    since = {"since": to_micros(now - timedelta(days=MEAN_DAYS))}
    for phase, (begin, until) in _PHASES.items():
        for severity, mean in reader.rows(_MEANS.format(begin=begin, until=until), since):
            family.add_metric((phase, severity), float(mean) / SECOND_MICROS)
    return family
