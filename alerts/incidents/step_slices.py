"""Slices of a step: a bounded part is written in one transaction."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from alerts.incidents.incident import Incident
from alerts.incidents.steps import StepResult
from lineage.states import PAGE

MAX_INCIDENTS: Final = 200  # incidents a transaction: a tenth of a second, of lists a second


def first_slice(
    before: Mapping[str, Incident],
    step: StepResult,
    commanded: Collection[str],
    most: int = MAX_INCIDENTS,
) -> StepResult:
    """Return the part of a step that is written now; the next turn finds the rest again.

    Args:
        before: incidents that the step was given, by id.
        step: what became of them.
        commanded: ids of incidents with a command of a person: these are always part of it.
        most: so many incidents, and those that they merged with.
    """
    now = {each.id: each for each in (*step.incidents, *step.changed)}
    gone = [number for number in before if number not in now]
    different = [each for each in now.values() if before.get(each.id) != each]
    if len(different) + len(gone) <= most:
        return step
    ranked = sorted(different, key=lambda each: _rank(each, commanded))
    chosen = {each.id for each in ranked[:most]} | {
        each.id for each in different if each.id in commanded
    }
    chosen |= {*gone[: max(0, most - len(chosen))]}
    chosen |= _merged_with(step, chosen)
    return StepResult(
        tuple(_incidents(before, step, chosen)),
        tuple(each for each in step.changed if each.id in chosen),
        tuple(each for each in step.events if each.incident_id in chosen),
        step.rejected,
    )


def _rank(incident: Incident, commanded: Collection[str]) -> tuple[bool, bool, bool, int, str]:
    """Return a sort key: commands first, then pages, then state changes, the oldest first."""
    is_page = incident.severity.level == PAGE
    return (
        incident.id not in commanded,
        not is_page,
        not incident.is_active,
        incident.onset,
        incident.id,
    )


def _merged_with(step: StepResult, chosen: set[str]) -> set[str]:
    pairs = [(event.incident_id, event.other_id) for event in step.events if event.other_id]
    return {each for pair in pairs for each in pair if not chosen.isdisjoint(pair)}


def _incidents(
    before: Mapping[str, Incident], step: StepResult, chosen: set[str]
) -> Iterator[Incident]:
    """Yield chosen incidents as they are now, and the others as they were."""
    done = chosen | {each.id for each in step.incidents}
    for each in step.incidents:
        if each.id in chosen:
            yield each
        elif each.id in before:
            yield before[each.id]
    yield from (each for number, each in before.items() if number not in done)
