"""Summaries of incidents: the root as messages name it."""

import pytest
from sqlalchemy import Engine

from alerts.detection.summaries import summarize_step
from alerts.incidents.detected_fault import service_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.notify.sentences import headline
from alerts.own_parts import EVENTS_ROOT, PIPELINE_ROOT
from lineage.process.clock import SECOND_MICROS
from lineage.states import UNAUTHORIZED_ACCESS
from tests.alerts.notify.messages import message


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (service_fault("ingestion", PIPELINE_ROOT, 0), "Lineward's role pipeline"),
        (service_fault("set_aside", EVENTS_ROOT, 0), "Lineward's events set aside"),
        (
            service_fault("access", UNAUTHORIZED_ACCESS.name, 0),
            "Lineward's API: unauthorized access",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_root_of_a_part_of_lineward_repeats_no_word(embedded: Engine, fault, words: str):
    """Follow each fault of Lineward from its detection to the header of its message."""
    step = advance((), StepInput(0, (fault,), frozenset(), ()))
    if not step.changed:  # only an access opens at once
        later = StepInput(60 * SECOND_MICROS, (fault,), frozenset(), ())
        step = advance(step.incidents, later)
    (incident,) = step.changed
    with embedded.connect() as connection:
        found = summarize_step(connection, {}, step, {incident.id: fault}, None)
    root = found.summaries[incident.id].root

    assert headline(message(kind="opened", severity="page", root=root)) == f"Page: {words}"
