"""Titles and evidence of incidents. Names are data: the code that shows a text escapes them."""

from collections.abc import Sequence
from typing import Final

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.root_cause.faults import FaultRoot
from alerts.root_cause.kinds import PROVENANCE
from lineage.process.clock import instant_text
from lineage.process.error_lines import ERROR_CHARACTERS, error_line

_TITLES: Final = {
    "failed": "{root} failed",
    "lost": "{root} started and has not ended",
    "source_stopped": "{root} did not deliver its source data",
    "renamed": "{root} is known under two names, and each has a part of the lineage",
    "missing": "{root} did not run",
    "unreported": "{root} ran, and reported no lineage or too little",
    "silent": "{root} sends no events",
    "slow": "{root} is late",
    "waiting": "{root} is late because of an unknown fault upstream",
    "standing_gap": "{root} never had lineage",
    "schema_changed": "{root} has a changed schema",
    "mapping": "{root} has lineage that differs from what its runs did",
    "provenance": "{root} has an unknown origin",
    "unexpected_source": "{root} has an undeclared upstream dataset",
    "quality": "{root} fails a data quality test",
    "metadata": "{root} lacks metadata that the policy requires",
    "claimed": "{root} has a name, tier, owner or drop claimed by an event without permission",
    "ingestion": (
        "Lineward's role {name} does not work: faults of datasets notify nobody until it works"
    ),
    "set_aside": "Lineward set {name} aside that it cannot process",
    "access": "Lineward allowed an access against the policy ({name})",
}
_CAUSE_TITLES: Final = {"failed": "fail", "lost": "do not end", "slow": "are late"}
_ENTITIES: Final = {"job": "Job", "dataset": "Dataset", "service": "Lineward's"}
_UNKNOWN_REASONS: Final = {
    "upstream_unknown": "a fault of Lineward makes the state of its upstream datasets unknown",
    "upstream_hidden": "its upstream datasets are not observed",
    "upstream_well": "its upstream datasets are good",
    "no_upstream": "it has no known upstream datasets",
}
_MOST_RUNS = 3


def unknown_root_reason(reason: str) -> str:
    """Return in words why a root is unknown; a reason that another release wrote stays a word."""
    return _UNKNOWN_REASONS.get(reason, reason)


def event_text(what: str) -> str:
    """Return a change of an incident in words; to escalate is to notify another person."""
    return "became a page" if what == "escalated" else what.replace("_", " ")


def describe_fault(incident: Incident, fault: DetectedFault) -> str:
    """Return the title of an incident: its root, and how many datasets are bad."""
    count = len(incident.members)
    return title(incident.root, fault.name, count, has_new_source=fault.has_new_source)


def title(root: FaultRoot, name: str, members: int, *, has_new_source: bool = False) -> str:
    """Return a title in one line.

    Args:
        root: of the fault.
        name: of the root; empty if it is not known any more.
        members: number of bad datasets.
        has_new_source: a fault of kind `provenance` is an undeclared upstream dataset.
    """
    kind = "unexpected_source" if has_new_source and root.kind == PROVENANCE else root.kind
    text = _title_of_kind(root, kind, name or "(unknown)")
    if not members:
        return text
    return f"{text}; {members:,} dataset{'s' if members > 1 else ''} bad"


def _title_of_kind(root: FaultRoot, kind: str, name: str) -> str:
    if root.entity == "cause":
        return f"Jobs with {name} {_CAUSE_TITLES.get(kind, 'are bad')}"
    return _TITLES[kind].format(root=f"{_ENTITIES[root.entity]} {name}", name=name)


def describe_evidence(fault: DetectedFault) -> str:
    """Return the evidence in words: since when, which runs failed, and with which error."""
    if fault.message is not None:
        return fault.message
    group = fault.group
    if group is None:
        return "reported by Lineward's own monitoring"
    parts = [f"{each.name} {instant_text(each.at)}" for each in fault.beginning]
    if fault.shared_cause is not None:
        parts.append(fault.shared_cause.description)
    if group.run_ids:
        parts.append(_describe_runs(group.run_ids, fault.error))
    if group.unknown is not None:
        parts.append(f"root cause unknown: {_UNKNOWN_REASONS[group.unknown]}")
    if group.is_bridged:
        parts.append("found through datasets that are not observed")
    if group.is_cycle:
        parts.append("first to fail in a cycle")
    return "; ".join(parts)


def _describe_runs(runs: Sequence[str], error: str | None) -> str:
    more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
    line = first_error_line(error)
    reason = f": {line}" if line else ""
    return f"failed: run {', '.join(runs[:_MOST_RUNS])}{more}{reason}"


def first_error_line(error: str | None) -> str | None:
    """Return the line of an error that says what happened; None where there is no text."""
    return error_line(error)[:ERROR_CHARACTERS] or None
