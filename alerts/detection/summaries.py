"""What a message can say of an incident: who is hurt, the gravest first, and whose they are."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, select

from alerts.detection.dataset_info import DatasetInfo, load_dataset_info
from alerts.detection.fault_detection import DetectedFault
from alerts.detection.snapshot_loader import Owners
from alerts.incidents.affected_datasets import AffectedDatasets, summarize_impact
from alerts.incidents.impact_store import datasets_per_list, find_changed_lists
from alerts.incidents.incident import Incident
from alerts.incidents.incident_text import first_error_line
from alerts.incidents.steps import Step
from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.message import Impacted, Root
from alerts.root_cause.kinds import PROVENANCE, STANDING_GAP
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.states import OPTIONAL


def summarize(
    connection: Connection, drawn: Sequence[tuple[Incident, DetectedFault, AffectedDatasets]]
) -> dict[str, IncidentSummary]:
    """By id, of incidents whose fault is found now.

    Of all at once: an estate that is seen for the first time may have thousands.
    """
    known = load_dataset_info(connection, set().union(*(_named_keys(each[1:]) for each in drawn)))
    firsts = _first_differences(connection, [incident.id for incident, _, _ in drawn])
    return {
        incident.id: _summarize_one(
            incident, finding, _ShownDatasets(hurt, known), firsts.get(incident.id)
        )
        for incident, finding, hurt in drawn
    }


def _named_keys(drawn: tuple[DetectedFault, AffectedDatasets]) -> set[int]:
    """The datasets that a message names."""
    finding, hurt = drawn
    theirs = (each.keys for each in hurt.by_owner.values())
    return {*_first_root_key(finding), *hurt.first}.union(*theirs)


def _first_root_key(finding: DetectedFault) -> list[int]:
    return sorted(finding.found.root_keys)[:1]


def _summarize_one(
    incident: Incident, finding: DetectedFault, shown: "_ShownDatasets", first: str | None
) -> IncidentSummary:
    root, hurt = incident.root, shown.hurt
    return IncidentSummary(
        incident=incident,
        what=finding.describe(incident),
        root=Root(
            root.name if root.entity == "service" else root.entity, finding.name, finding.namespace
        ),
        impacted=shown.listed(hurt.first),
        impacted_count=hurt.count,
        tiers=hurt.tiers,
        by_owner=shown.by_owner(incident.members),
        error=first_error_line(finding.error),
        first_difference=first,
        dataset=shown.name_of(_first_root_key(finding)),
        runbook=root.kind,
        correlation_id=incident.id,
        is_bridged=finding.group is not None and finding.group.is_bridged,
        hidden_by=finding.found.hidden_by,
        is_digest_only=shown.is_for_digest(root.kind, _first_root_key(finding)),
    )


class _ShownDatasets(msgspec.Struct, frozen=True, eq=False):
    """Affected datasets by name, as far as a message names them."""

    hurt: AffectedDatasets
    named: Mapping[int, DatasetInfo]

    def name_of(self, keys: Iterable[int]) -> tuple[str, str] | None:
        """Return namespace and name of the first that is known."""
        return next((_full_name(self.named[key]) for key in keys if key in self.named), None)

    def is_for_digest(self, kind: str, keys: Sequence[int]) -> bool:
        """Return whether the digest has a gap, in the line of the system that its datasets are of.

        These are gaps of optional datasets that nobody declared, and unsourced reads of others.
        """
        found = [self.named[key] for key in keys if key in self.named]
        if not found or not all(one.is_unwritten for one in found):
            return False
        is_minor = all(not one.is_declared and one.tier == OPTIONAL for one in found)
        return kind == PROVENANCE or (kind == STANDING_GAP and is_minor)

    def listed(self, keys: Iterable[int]) -> tuple[Impacted, ...]:
        """The first ten, with how they are and when they are past their limit."""
        return tuple(_impacted(self.named[key]) for key in keys if key in self.named)

    def by_owner(self, bad: frozenset[int]) -> dict[str, OwnerImpact]:
        """What each owner has of it."""
        return {
            owner: OwnerImpact(self.listed(own.keys), own.count, own.tiers, own.bad & bad)
            for owner, own in self.hurt.by_owner.items()
        }


def _full_name(one: DatasetInfo) -> tuple[str, str]:
    return one.namespace, one.name


def _impacted(one: DatasetInfo) -> Impacted:
    return Impacted(one.namespace, one.name, one.tier, one.state, one.limit_at)


class _Diagnosis(msgspec.Struct, frozen=True):
    """Of a diagnosis, what messages say."""

    first: str | None = None


def _first_differences(connection: Connection, incident_ids: list[str]) -> dict[str, str | None]:
    table, found = tables.incident, dict[str, str | None]()
    for piece in pieces(incident_ids):
        rows = connection.execute(
            select(table.c.incident_id, table.c.diagnosis).where(
                table.c.incident_id.in_(piece), table.c.diagnosis.is_not(None)
            )
        )
        found |= {row[0]: msgspec.json.decode(row[1], type=_Diagnosis).first for row in rows}
    return found


class StepSummaries(msgspec.Struct, frozen=True, eq=False):
    """By incident id: what a message says, and who is affected where that list is to be written."""

    pictures: Mapping[str, IncidentSummary]
    lists: Mapping[str, AffectedDatasets]


def summarize_step(
    connection: Connection,
    before: Mapping[str, Incident],
    step: Step,
    findings: Mapping[str, DetectedFault],
    owners: Owners | None,
) -> StepSummaries:
    """Walk the graph once for each incident that changed; of each impact its short form stays."""
    listed = set().union(*find_changed_lists(before, step)) & findings.keys()
    told = {each.id: each for each in step.changed if each.id in findings}
    most = datasets_per_list(len(listed))
    short = {
        number: summarize_impact(
            findings[number].impact(), owners, findings[number].found.bad_keys, most
        )
        for number in sorted(listed | told.keys())
    }
    drawn = [(each, findings[each.id], short[each.id]) for each in told.values()]
    lists = {number: short[number] for number in listed if short[number].count}
    return StepSummaries(summarize(connection, drawn), lists)
