"""Advice of the runbook pages that an on-call engineer missed, compared with the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from alerts.notify.channels.slack.responses import (
    DOUBTFUL_ERRORS,
    RETRYABLE_ERRORS,
    TOKEN_ERRORS,
)
from alerts.notify.recipients import NO_CHANNEL, NO_PLATFORM
from alerts.notify.sentences import NOT_CONFIGURED
from collector.errors import InvalidEventError, TooLargeError, TooManyError
from collector.settings import Limits
from collector.shipper.shipper import TOO_LARGE
from lineage.input_log.records import FOREIGN
from runbooks.library import page_markdown
from slis.indicators.error_rate import PRUNED
from slis.stream.failures.set_aside import SET_ASIDE
from slis.stream.kafka.store import EXPIRED
from tests.runbooks.pasted import blocks

ROOT = Path(__file__).resolve().parents[2]
# The collector stores a body that is rejected with one of these; other requests are not events.
_STORED = (InvalidEventError, TooLargeError, TooManyError)
_OUTCOMES = {"PermanentFailure", "Retryable"}
_LOCKED = "If the catalog is locked, [end the process of the role in place of the action](asking)."


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


def test_each_reason_of_a_failed_notification_has_a_row():
    """Compare the page with the outcomes of all channels.

    Mutants: without `unknown_webhook` or `token_revoked` a failing channel has no known cause.
    """
    reasons = set(_words("alerts", _OUTCOMES)) | set(_counted())
    reasons |= TOKEN_ERRORS | RETRYABLE_ERRORS | DOUBTFUL_ERRORS
    reasons |= {NOT_CONFIGURED, NO_CHANNEL, NO_PLATFORM}
    reasons -= {"history_too_long"}  # the message is then sent without a search

    assert {"gave_up", "undelivered", "invalid_url"} <= reasons
    assert reasons - _rows("NotificationDeliveryFailing", "reason") == set()


def _counted() -> Iterator[str]:
    """Return the literals that are counted as a reason, and those that are a default of one."""
    for path in (ROOT / "alerts" / "notify").glob("*.py"):
        text = path.read_text("utf-8")
        yield from re.findall(r'DELIVERY_FAILED, [\w.]+, "(\w+)"', text)
        yield from re.findall(r'reason: str = "(\w+)"', text)


def test_the_page_on_failed_events_says_which_are_lost():
    """Find the loss in the row, in the impact and after the actions."""
    impact, mitigation = page_markdown("LineageErrorRateBurn").split("## ")[2::2]

    assert "With the cause `log_expired`, events are lost" in impact
    assert "Events that the topic deleted (`log_expired`) are not in the lake" in mitigation


def test_the_page_on_failed_events_has_the_limits_of_the_size():
    """Compare both figures with the settings."""
    limits = Limits().max_body_bytes >> 20, Limits().max_inflated_bytes >> 20
    row = re.search(r"(?m)^\| `too_large` \|.*", page_markdown("LineageErrorRateBurn"))

    assert row is not None
    assert tuple(map(int, re.findall(r"(\d+) MiB", row[0]))) == limits


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
    assert "is locked, end the process of the role instead: `kill PID`" in page_markdown("asking")


def test_the_window_of_lost_events_of_marquez_begins_by_a_metric():
    """Find no command: `lineward marquez status` shows the last probe, successful or not."""
    (step,) = re.findall(r"(?m)^2\. .*", page_markdown("MarquezEventsLost"))

    assert "`lineage_marquez_forwarded_total` stopped rising" in step
    assert "lineward marquez status" not in step


@pytest.mark.parametrize("name", ["PolicyNotInForce", "UnauthorizedAccess", "access"])
def test_pages_on_the_policy_check_each_pod_of_the_service(name: str):
    """Find the list of the pods: one pod can have the old policy longer than another."""
    text = page_markdown(name)

    assert "In scaled mode each pod of the service reads its own copy of the policy" in text
    assert "get pods --selector app.kubernetes.io/component=service\n" in text


def test_the_page_on_absent_series_asks_the_leader():
    """Find the port of one pod: another replica exports no series of the catalog."""
    lines = "".join(blocks(page_markdown("LineageSeriesAbsent"), "sh")).splitlines()
    forward = lines.index('kubectl -n lineward port-forward "$POD" 8702')

    assert lines[forward + 1].startswith("curl -fsS http://127.0.0.1:8702/metrics")


def test_the_page_of_the_watchdog_leaves_out_the_policy_on_kubernetes():
    """Find no path: a variable of a person's own shell has no value for the pod."""
    (text,) = re.findall(r"(?m)^On Kubernetes run both commands.*", page_markdown("Watchdog"))

    assert "Leave out `--policy`, because the pod has this setting" in text


@pytest.mark.parametrize("name", ["LineageEvaluationAbsent", "LineageRoleFailing"])
def test_pages_on_a_role_that_ends_say_what_to_do_without_a_shell(name: str):
    """Find the way before the first command in the container."""
    before, *_ = page_markdown(name).partition("\nlineward ")
    text = before if name == "LineageEvaluationAbsent" else page_markdown(name)

    assert "If no shell opens in the container" in text
    assert "](pods)" in before


def test_a_replay_to_marquez_waits_until_the_spool_forgets_the_event():
    """Compare the hour of the page with the time for which the spool has an event."""
    assert "until the event is over an hour old" in page_markdown("MarquezEventsSetAside")
    assert Limits().keep_seconds == 3_600
