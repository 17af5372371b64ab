"""What the metrics say of incidents: which are open, and what of the bad they explain."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from lineage.catalog.meta_keys import EPOCH
from lineage.catalog.queries import IS_OPEN, IS_UNRESOLVED, MOST_SEVERE_FIRST
from lineage.catalog.reader import Reader
from lineage.states import SLI_BY_ID

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


def incident_families(reader: Reader) -> Iterator[Metric]:
    """Of the catalog: an incident is open until somebody or an evaluation says otherwise."""
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


def _explained(reader: Reader) -> Metric:
    family = CounterMetricFamily(
        "lineage_sli_explained",
        "Bad part of the SLI that belongs to an open incident, in the unit of lineage_sli_total.",
        labels=("sli", "tier", "epoch"),
    )
    for sli, tier, epoch, value in reader.rows(_EXPLAINED, {"most": MOST_OPEN}):
        family.add_metric((SLI_BY_ID[sli].name, tier, epoch), value)
    return family
