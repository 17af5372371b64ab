"""What a step needs from the graph: the messages' pictures, and the lists of who is affected."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection

from alerts.incidents.incident import Incident
from alerts.incidents.steps import Step
from alerts.notify.incident_summary import IncidentSummary
from alerts.incidents.affected_datasets import Affected, affected
from alerts.detection.snapshot_loader import Owners
from alerts.detection.fault_detection import Finding
from alerts.incidents.impact_store import listed_by, share
from alerts.detection.summaries import pictures


class Drawn(msgspec.Struct, frozen=True, eq=False):
    """By incident id: what a message says, and who is affected where that list is to be written."""

    pictures: Mapping[str, IncidentSummary]
    lists: Mapping[str, Affected]


def draw(
    connection: Connection,
    before: Mapping[str, Incident],
    step: Step,
    findings: Mapping[str, Finding],
    owners: Owners | None,
) -> Drawn:
    """Walk the graph once for each incident that changed; of each impact its short form stays."""
    listed = set().union(*listed_by(before, step)) & findings.keys()
    told = {each.id: each for each in step.changed if each.id in findings}
    most = share(len(listed))
    short = {
        number: affected(findings[number].impact(), owners, findings[number].found.bad_keys, most)
        for number in sorted(listed | told.keys())
    }
    drawn = [(each, findings[each.id], short[each.id]) for each in told.values()]
    lists = {number: short[number] for number in listed if short[number].count}
    return Drawn(pictures(connection, drawn), lists)
