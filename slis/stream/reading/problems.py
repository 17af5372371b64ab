"""Problems of an event: not read, not read whole, or too many inputs and outputs for edges.

An edge leads from each input to each output: 3,000 of both, 15 kB of an event, would be 9,000,000.
"""

from typing import Final

from lineage.process.clock import EVENT_TIMES
from slis.stream.reading.event_times import parse_time
from slis.stream.reading.openlineage import Event, Job, NominalTime

CORE_UNREADABLE = "core_unreadable"
PARTLY_UNREADABLE = "partly_unreadable"
_NOMINAL_TIME = "run.facets.nominalTime"
NOMINAL_START, NOMINAL_END = (f"{_NOMINAL_TIME}.nominal{end}Time" for end in ("Start", "End"))
_SHOWN_CHARACTERS = 80
_NO_JOB: Final = Job()
_MISSING: Final = "missing, or not of the type that the specification says"
_OTHER_TYPE: Final = (
    "a field has another type than the specification says; the rest of the event was taken"
)
_Problem = tuple[str | None, str | None]

# Of one run or job: a job that copies 100 tables into 100 others is just within it.
MOST_EDGES: Final = 10_000


def find_problem(event: Event, kind: str, event_time: int | None, *, is_whole: bool) -> _Problem:
    """Return the problem's word, and what is wrong where; (None, None): nothing.

    Args:
        event: as far as it could be read.
        kind: run, job or dataset.
        event_time: that it gives.
        is_whole: whether each of its parts has the type that the specification says.
    """
    if event_time is None:
        shown = _shown(event.event_time)
        return CORE_UNREADABLE, f"eventTime: {EVENT_TIMES} in ISO 8601, got {shown}"
    if missing := _find_missing(event, kind):
        return CORE_UNREADABLE, f"{missing}: {_MISSING}"
    if not is_whole:
        return PARTLY_UNREADABLE, _OTHER_TYPE
    ignored = _find_ignored(event)
    return (PARTLY_UNREADABLE, ignored) if ignored else (None, None)


def _find_missing(event: Event, kind: str) -> str | None:
    """Return the path of what an event of this kind must have, and this one does not."""
    job, dataset = event.job or _NO_JOB, event.dataset or _NO_JOB
    if kind == "run" and (event.run is None or event.run.run_id is None):
        return "run.runId"
    if kind != "dataset" and None in (job.name, job.namespace):
        return "job"
    if kind == "dataset" and None in (dataset.name, dataset.namespace):
        return "dataset"
    return None


def _find_ignored(event: Event) -> str | None:
    """Return which part of an event is left out, and why."""
    facets = event.run.facets if event.run else None
    if facets and facets.nominal_time and (ignored := _find_ignored_time(facets.nominal_time)):
        return ignored
    inputs, outputs = len(event.inputs or ()), len(event.outputs or ())
    if is_wide(inputs, outputs):
        return (
            f"outputs: {outputs} of {inputs} inputs would be more than {MOST_EDGES} edges: "
            "reads and writes were taken, no edge was"
        )
    return None


def _find_ignored_time(nominal: NominalTime) -> str | None:
    times = {NOMINAL_START: nominal.nominal_start_time, NOMINAL_END: nominal.nominal_end_time}
    for path, text in times.items():
        if text and text.strip(" ") and parse_time(text) is None:
            return f"{path}: {EVENT_TIMES}, got {_shown(text)}"
    return None


def _shown(text: str | None) -> str:
    return "nothing" if text is None else text[:_SHOWN_CHARACTERS]


def is_wide(inputs: int, outputs: int) -> bool:
    """Return whether so many inputs and outputs make too many edges."""
    return inputs * outputs > MOST_EDGES
