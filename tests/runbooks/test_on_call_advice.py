"""Advice of the runbook pages that an on-call engineer missed, compared with the code."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from alerts.incidents.lifecycle import LIFECYCLE_RULES
from alerts.notify.channels.channel import RETRYABLE_STATUSES
from alerts.notify.channels.slack.responses import (
    DOUBTFUL_ERRORS,
    RATE_LIMIT_ERRORS,
    RETRYABLE_ERRORS,
    TOKEN_ERRORS,
)
from alerts.notify.recipients import NO_CHANNEL, NO_PLATFORM
from alerts.notify.sentences import NOT_CONFIGURED
from alerts.rules.burn_windows import BURN_WINDOWS, ESCALATION_WINDOW
from alerts.rules.rule_file import alert_names
from collector.errors import InvalidEventError, TooLargeError, TooManyError
from collector.settings import Limits
from collector.shipper.shipper import TOO_LARGE
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.input_log.records import FOREIGN
from runbooks.library import page_markdown
from slis.evaluation.reasons import LIMIT_FAILED
from slis.indicators.coverage import ACTIVE_SECONDS
from slis.indicators.error_rate import PRUNED
from slis.indicators.quality import assertions, schema_mismatch, unexpected_source
from slis.stream.failures.set_aside import SET_ASIDE
from slis.stream.kafka.store import EXPIRED
from tests.runbooks.pasted import blocks, commands
from tests.service import shop
from tests.service.commandline import environ

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


def test_the_page_on_failed_limits_lists_their_datasets(embedded):
    """Run the command of the page on a catalog with a long name, which a table would wrap.

    Mutants: the metric of states, which has bad and critical datasets only; `grep` on the table,
    which prints a part of the name.
    """
    name = f"raw/{'x' * 120}"
    shop.fill(embedded)
    shop.add_dataset(embedded, shop.NAMESPACE, name, state="unknown")
    own = tables.dataset_state.c.dataset_key == shop.dataset_key(name)
    with write_transaction(embedded) as connection:
        connection.execute(update(tables.dataset_state).where(own).values(reason=LIMIT_FAILED))

    line, *_ = "".join(blocks(page_markdown("LineageLimitsFailing"), "sh")).splitlines()
    script = f'lineward() {{ {sys.executable} -m service.cli.main "$@"; }}; {line}'
    given = environ(LINEWARD_CATALOG_URL=embedded.url.render_as_string(hide_password=False))
    done = subprocess.run(
        ["bash", "-c", script], env=given, capture_output=True, text=True, check=True
    )
    assert re.findall(r'"dataset": "(.*)"', done.stdout) == [name]
    assert f'"dataset_namespace": "{shop.NAMESPACE}"' in done.stdout


_LISTS = {"datasets", "unsourced", "incidents"}


@pytest.mark.parametrize("name", [each for each in alert_names() if "Incident" not in each])
def test_a_page_lists_datasets_before_it_asks_about_one(name: str):
    """Find the list before the first `$DATASET`: such an alert names no dataset.

    Mutant: `lineward why "$DATASET"` as the first command.
    """
    found = commands(page_markdown(name))
    first = next((place for place, each in enumerate(found) if "$DATASET" in each), None)

    if first is not None:
        assert {each[0] for each in found[:first]} & _LISTS


def test_pages_say_for_how_long_content_stays_bad():
    """Compare the seven days and eight cycles of the pages with the code."""
    days = {each.STANDS_DAYS for each in (assertions, schema_mismatch, unexpected_source)}
    assert days | {ACTIVE_SECONDS / 86_400} == {7}

    assert "seven days after the last failure" in page_markdown("quality")
    assert "resolves when the same test passes" in page_markdown("quality")
    assert "another code version, or seven days after the change" in page_markdown("schema_changed")
    for name in ("provenance", "unexpected_source"):
        assert "seven days after the first run with this source" in page_markdown(name)
    for name in ("mapping", "EdgeCompletenessBurn"):
        assert "after eight cycles, at least seven days" in page_markdown(name)


@pytest.mark.parametrize("name", ["schema_changed", "LinewardIncidentPage"])
def test_an_incident_about_an_intended_change_can_be_resolved(name: str):
    """Find the command: nothing else ends such an incident on the same day."""
    assert ["resolve", "$INCIDENT", "--note", "$NOTE"] in commands(page_markdown(name))


def test_the_page_on_incidents_has_the_times_of_the_lifecycle():
    """Compare how long a fault reopens its incident, and how long its datasets may catch up."""
    rules, text = LIFECYCLE_RULES, page_markdown("LinewardIncidentPage")
    routing = (ROOT / "docs" / "routing.md").read_text("utf-8")

    assert (rules.memory_seconds, rules.most_memory_seconds) == (3600, 4 * 3600)
    assert f"within {rules.memory_cadences:g} of its cadences after the incident was" in text
    assert "(at least one hour, at most four)" in text
    assert "or acknowledged it in the last four hours" in text
    assert "if somebody acknowledged within the last four hours" in routing
    assert (rules.drain_seconds, rules.close_seconds) == (3600, 45)
    assert "by itself 45 s after" in text
    assert f"good (or {rules.drain_cadences:g} of its cadences, if longer) becomes" in text


def test_the_page_on_burns_says_when_each_alert_ends():
    """Compare the times with the short windows, which end an alert."""
    section = page_markdown("burn-rates").partition("## When the alert ends")[2]
    rows = dict(re.findall(r"(?m)^\| \[?(\w+)\S* \| (within .*) \|$", section))
    units = {"m": "minutes", "h": "hours"}
    ends = {
        severity: [f"{one.short[:-1]} {units[one.short[-1]]}" for one in windows]
        for severity, windows in {
            "page": [one for one in BURN_WINDOWS if one.severity == "page"],
            "ticket": [one for one in BURN_WINDOWS if one.severity == "ticket"],
            "ErrorBudgetEscalation": [ESCALATION_WINDOW],
        }.items()
    }

    assert {name: re.findall(r"within (\d+ \w+)", text) for name, text in rows.items()} == ends


def test_the_documentation_lists_each_temporary_failure():
    """Compare the row with Slack's codes and the statuses of HTTP that are retried."""
    document = (ROOT / "docs" / "delivery.md").read_text("utf-8")
    (row,) = re.findall(r"(?m)^\| temporary \|.*", document)

    codes = RATE_LIMIT_ERRORS | RETRYABLE_ERRORS | DOUBTFUL_ERRORS
    assert set(re.findall(r"`([a-z_]+)`", row)) == codes
    assert set(map(int, re.findall(r"\b(4\d\d)\b", row))) == RETRYABLE_STATUSES | {429}
