"""Texts of an incident's page: why the incident is frozen, and why its root is unknown."""

from alerts.incidents.incident_text import unknown_root_reason
from service.explorer.formatting import frozen_text
from service.queries.incident_shapes import IncidentStep


def _step(what: str, reason: str) -> IncidentStep:
    return IncidentStep(
        revision=1, at="2026-11-21T09:00:00+00:00", what=what, reason=reason, by=None
    )


def test_a_frozen_incident_has_the_reason_of_its_newest_freeze():
    """Show the reason of the timeline, and no reason of the page's own."""
    first, newest = _step("frozen", "the first"), _step("frozen", "the newest")

    assert frozen_text([first, _step("thawed", "over"), newest]) == "frozen: the newest"
    assert frozen_text([]) == "frozen: a retry or current data is awaited"


def test_an_unknown_root_has_the_sentence_of_messages():
    """Show a sentence in place of the word that JSON has."""
    assert unknown_root_reason("upstream_hidden") == "its upstream datasets are not observed"
    assert unknown_root_reason("of_a_later_release") == "of_a_later_release"
