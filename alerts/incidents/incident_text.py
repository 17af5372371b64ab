"""What is wrong, in one line, and why we say so. Names are data: whoever shows a line quotes it."""

from collections.abc import Sequence
from typing import Final

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.root_cause.faults import Root
from alerts.root_cause.kinds import PROVENANCE
from lineage.clock import instant_text
from lineage.error_lines import ERROR_CHARACTERS, error_line

_TITLES: Final = {
    "failed": "{} failed",
    "lost": "{} started and never ended",
    "source_stopped": "the source {} was not delivered",
    "renamed": "{} is known by another name too, and each lacks what the other has",
    "missing": "{} did not run",
    "unreported": "{} ran and told nothing of its lineage, or not enough",
    "silent": "nothing is heard of {}",
    "slow": "{} is late",
    "waiting": "{} waits for something upstream that is not known",
    "standing_gap": "{} never had lineage",
    "schema_changed": "the schema of {} changed",
    "mapping": "the lineage of {} is not what its runs did",
    "provenance": "the origin of {} is unknown",
    "unexpected_source": "{} has an undeclared upstream dataset",
    "quality": "a test of the data of {} fails",
    "metadata": "{} lacks metadata that the policy requires",
    "claimed": "an event without the right to claims a name, tier, owner or drop of {}",
    "ingestion": "the {} of Lineward is silent: nobody knows how datasets are",
    "set_aside": "the pipeline set {} aside that it cannot land",
    "access": "an access was let in that the policy does not allow ({})",
}
_UNKNOWN_REASONS: Final = {
    "upstream_unknown": "how its upstream is, nobody knows, by a fault of ours",
    "upstream_hidden": "nobody observes its upstream",
    "upstream_well": "nothing upstream of it is bad",
    "no_upstream": "it has no upstream that is known",
}
_MOST_RUNS = 3


def describe_fault(incident: Incident, fault: DetectedFault) -> str:
    """Return the title of an incident: its root, and how many datasets are affected."""
    count = len(incident.members)
    return title(incident.root, fault.name, count, has_new_source=fault.has_new_source)


def title(root: Root, name: str, members: int, *, has_new_source: bool = False) -> str:
    """Describe the fault in words, and how many datasets are affected.

    Args:
        root: of the fault.
        name: of the root.
        members: datasets that are bad.
        has_new_source: a fault of kind `provenance` is an undeclared upstream dataset.
    """
    kind = "unexpected_source" if has_new_source and root.kind == PROVENANCE else root.kind
    said = _TITLES[kind].format(name or "something")
    if root.entity == "cause":
        said = f"{name}: its jobs {_OF_CAUSE.get(root.kind, 'are bad')}"
    if not members:
        return said
    return f"{said}; {members:,} dataset{'s' if members > 1 else ''} affected"


_OF_CAUSE: Final = {"failed": "fail", "lost": "never end", "slow": "are late"}


def describe_evidence(fault: DetectedFault) -> str:
    """Return the evidence in words: since when, which runs failed, and with which error."""
    if fault.message is not None:
        return fault.message
    group = fault.group
    if group is None:
        return "Lineward says so of itself"
    parts = [f"{each.name} {instant_text(each.at)}" for each in fault.beginning]
    if fault.shared_cause is not None:
        parts.append(fault.shared_cause.description)
    if group.run_ids:
        parts.append(_describe_runs(group.run_ids, fault.error))
    if group.unknown is not None:
        parts.append(f"its root is not known: {_UNKNOWN_REASONS[group.unknown]}")
    if group.is_bridged:
        parts.append("bridged over datasets that nobody observes")
    if group.is_cycle:
        parts.append("the first of a cycle")
    return "; ".join(parts)


def _describe_runs(runs: Sequence[str], error: str | None) -> str:
    more = f" and {len(runs) - _MOST_RUNS} more" if len(runs) > _MOST_RUNS else ""
    line = first_error_line(error)
    reason = f": {line}" if line else ""
    return f"failed: run {', '.join(runs[:_MOST_RUNS])}{more}{reason}"


def first_error_line(error: str | None) -> str | None:
    """Return the line of an error that says what happened; None where there is no text."""
    return error_line(error)[:ERROR_CHARACTERS] or None
