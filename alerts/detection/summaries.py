"""Summaries of incidents for messages: the fault, the affected datasets, and their owners."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, select

from alerts.detection.names_and_owners import DatasetInfo, load_dataset_info
from alerts.incidents.affected_datasets import AffectedDatasets, OwnerNumbers, summarize_impact
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.incident_text import describe_fault, first_error_line
from alerts.incidents.member_store import datasets_per_list, find_changed_lists
from alerts.incidents.steps import StepResult
from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.message import Impacted, MessageRoot
from alerts.root_cause.kinds import PROVENANCE, STANDING_GAP
from lineage.catalog import tables
from lineage.catalog.queries import split_batches
from lineage.states import OPTIONAL


class StepSummaries(msgspec.Struct, frozen=True, eq=False):
    """Summaries of the incidents that a step changed, by incident id.

    Attributes:
        summaries: what a message says.
        lists: affected datasets, where that list is to be written.
    """

    summaries: Mapping[str, IncidentSummary]
    lists: Mapping[str, AffectedDatasets]


def summarize_step(
    connection: Connection,
    before: Mapping[str, Incident],
    step: StepResult,
    faults: Mapping[str, DetectedFault],
    owners: OwnerNumbers | None,
) -> StepSummaries:
    """Walk the graph once for each incident that changed; keep only the summary of each impact."""
    listed = set().union(*find_changed_lists(before, step)) & faults.keys()
    changed = {each.id: each for each in step.changed if each.id in faults}
    most = datasets_per_list(len(listed))
    affected = {
        number: summarize_impact(faults[number].impact(), owners, faults[number].bad_keys, most)
        for number in sorted(listed | changed.keys())
    }
    every = [(each, faults[each.id], affected[each.id]) for each in changed.values()]
    lists = {number: affected[number] for number in listed if affected[number].count}
    return StepSummaries(summarize(connection, every), lists)


def summarize(
    connection: Connection, changed: Sequence[tuple[Incident, DetectedFault, AffectedDatasets]]
) -> dict[str, IncidentSummary]:
    """Return the summaries by incident id.

    All together: a catalog that is evaluated for the first time may have thousands of incidents.
    """
    keys = set().union(*(_named_keys(fault, affected) for _, fault, affected in changed))
    known = load_dataset_info(connection, keys)
    firsts = _first_differences(connection, [incident.id for incident, _, _ in changed])
    return {
        incident.id: _summarize_one(
            incident, fault, _NamedDatasets(affected, known), firsts.get(incident.id)
        )
        for incident, fault, affected in changed
    }


def _named_keys(fault: DetectedFault, affected: AffectedDatasets) -> set[int]:
    """Return the datasets that a message names."""
    owned = (each.keys for each in affected.by_owner.values())
    return {*_first_root_key(fault), *affected.first}.union(*owned)


def _first_root_key(fault: DetectedFault) -> list[int]:
    return sorted(fault.root_keys)[:1]


def _summarize_one(
    incident: Incident, fault: DetectedFault, datasets: "_NamedDatasets", first: str | None
) -> IncidentSummary:
    root, affected = incident.root, datasets.affected
    return IncidentSummary(
        incident=incident,
        what=describe_fault(incident, fault),
        root=MessageRoot(root.entity, fault.name, fault.namespace),
        impacted=datasets.list_impacted(affected.first),
        impacted_count=affected.count,
        tiers=affected.tiers,
        by_owner=datasets.list_by_owner(incident.members),
        error=first_error_line(fault.error),
        first_difference=first,
        dataset=datasets.first_name(_first_root_key(fault)),
        runbook=root.kind,
        correlation_id=incident.id,
        is_bridged=fault.is_bridged,
        hidden_by=fault.hidden_by,
        is_digest_only=datasets.is_for_digest(root.kind, _first_root_key(fault)),
    )


class _NamedDatasets(msgspec.Struct, frozen=True, eq=False):
    """Affected datasets, with the names that a message shows."""

    affected: AffectedDatasets
    info: Mapping[int, DatasetInfo]

    def first_name(self, keys: Iterable[int]) -> tuple[str, str] | None:
        """Return namespace and name of the first dataset that is known."""
        known = (self.info[key] for key in keys if key in self.info)
        return next(((one.namespace, one.name) for one in known), None)

    def is_for_digest(self, kind: str, keys: Sequence[int]) -> bool:
        """Return whether the daily digest reports the fault, in the line of its system.

        These are gaps of optional undeclared datasets, and reads of datasets that nobody writes.
        """
        known = [self.info[key] for key in keys if key in self.info]
        if not known or not all(one.is_unwritten for one in known):
            return False
        is_minor = all(not one.is_declared and one.tier == OPTIONAL for one in known)
        return kind == PROVENANCE or (kind == STANDING_GAP and is_minor)

    def list_impacted(self, keys: Iterable[int]) -> tuple[Impacted, ...]:
        """Return the datasets with their states and deadlines."""
        known = (self.info[key] for key in keys if key in self.info)
        return tuple(
            Impacted(one.namespace, one.name, one.tier, one.state, one.limit_at) for one in known
        )

    def list_by_owner(self, bad: frozenset[int]) -> dict[str, OwnerImpact]:
        """Return the affected datasets of each owner."""
        return {
            owner: OwnerImpact(self.list_impacted(own.keys), own.count, own.tiers, own.bad & bad)
            for owner, own in self.affected.by_owner.items()
        }


class _Diagnosis(msgspec.Struct, frozen=True):
    """Part of a stored diagnosis that messages show."""

    first: str | None = None


def _first_differences(connection: Connection, incident_ids: list[str]) -> dict[str, str | None]:
    table = tables.incident
    columns = select(table.c.incident_id, table.c.diagnosis).where(table.c.diagnosis.is_not(None))
    return {
        row.incident_id: msgspec.json.decode(row.diagnosis, type=_Diagnosis).first
        for piece in split_batches(incident_ids)
        for row in connection.execute(columns.where(table.c.incident_id.in_(piece)))
    }
