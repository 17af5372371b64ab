"""What a step needs from the graph: the messages' pictures, and the lists of who is affected."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection

from alerts.detection.fault_detection import DetectedFault
from alerts.detection.snapshot_loader import Owners
from alerts.detection.summaries import summarize
from alerts.incidents.affected_datasets import AffectedDatasets, summarize_impact
from alerts.incidents.impact_store import datasets_per_list, find_changed_lists
from alerts.incidents.incident import Incident
from alerts.incidents.steps import Step
from alerts.notify.incident_summary import IncidentSummary


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
