"""Advice of the runbook pages that an on-call engineer missed, compared with the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.errors import InvalidEventError, TooLargeError, TooManyError
from collector.shipper.shipper import TOO_LARGE
from lineage.input_log.records import FOREIGN
from runbooks.library import page_markdown
from slis.indicators.error_rate import PRUNED
from slis.stream.failures.set_aside import SET_ASIDE
from slis.stream.kafka.store import EXPIRED

ROOT = Path(__file__).resolve().parents[2]
# The collector stores a body that is rejected with one of these; other requests are not events.
_STORED = (InvalidEventError, TooLargeError, TooManyError)
_OUTCOMES = {"PermanentFailure", "Retryable"}
_LOCKED = (
    "If the catalog is locked or does not answer,"
    " [restart `lineward up` in place of the action](asking)."
)


def _words(folder: str, names: set[str]) -> Iterator[str]:
    """Return the literals that calls of these names have as first argument or as `reason`."""
    for path in (ROOT / folder).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in names:
                own = [each.value for each in call.keywords if each.arg == "reason"]
                for each in [*call.args[:1], *own]:
                    if isinstance(each, ast.Constant) and re.fullmatch(r"\w+", str(each.value)):
                        yield str(each.value)


def _rows(page: str, heading: str) -> set[str]:
    """Return the words in backticks in the first column of the table with this heading."""
    table = page_markdown(page).partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    cells = re.findall(r"(?m)^\| ([^|]+) \|", table)
    return {word for cell in cells for word in re.findall(r"`([a-z_0-9]+)`", cell)}


def test_each_cause_of_failed_events_has_a_row():
    """Compare the page with the errors of the collector, the shipper and the pipeline.

    Mutant: without the row `log_expired` the page looked for lost events in the lake.
    """
    literals = set(_words("collector", {each.__name__ for each in _STORED}))
    causes = literals | {each.reason for each in _STORED}
    causes |= {PRUNED, TOO_LARGE, FOREIGN, SET_ASIDE, EXPIRED}

    assert {"not_utf8", "name_too_long", "too_many"} <= causes
    assert causes == _rows("LineageErrorRateBurn", "cause")


def test_the_page_on_failed_events_says_which_are_lost():
    """Find the loss in the row, in the impact and after the actions."""
    impact, mitigation = page_markdown("LineageErrorRateBurn").split("## ")[2::2]

    assert "With the cause `log_expired`, events are lost" in impact
    assert "Events that the topic deleted (`log_expired`) are not in the lake" in mitigation


@pytest.mark.parametrize(
    "name",
    [
        "LineageEvaluationAbsent",
        "LineageEvaluationStale",
        "LineageIngestionStopped",
        "LinewardScrapeDown",
    ],
)
def test_pages_on_a_hanging_role_say_what_to_do_without_an_action(name: str):
    """Find the sentence after the action: a locked catalog rejects each action."""
    assert _LOCKED in page_markdown(name).rpartition("act restart-role")[2]
    assert "locked or does not answer, stop `lineward up` and start it again" in page_markdown(
        "asking"
    )


def test_the_window_of_lost_events_of_marquez_begins_by_a_metric():
    """Find no command: `lineward marquez status` shows the last probe, successful or not."""
    (step,) = re.findall(r"(?m)^2\. .*", page_markdown("MarquezEventsLost"))

    assert "`lineage_marquez_forwarded_total` stopped rising" in step
    assert "lineward marquez status" not in step
