"""Panels over the demo: a real Prometheus scrapes it, and runs Grafana's queries."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lab.demo.start import DEMO_POLICY
from lineage.policy import parse_policy
from tests.alerts.rules.alertmanagers import scraping
from tests.alerts.rules.promtool import judging_budgets_at_once, rules_of
from tests.dashboards.panel_queries import ALL, Prometheus, fill_variables, list_targets
from tests.e2e.demos import start_demo
from tests.e2e.test_demo import assert_all_states_are_shown, assert_nothing_is_left
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

# Panels without data in a shop of two minutes, each with the reason.
_REGULATED = "no rule of the shop's policy says regulated"
_ACCESS = "its policy has no access section: nothing is audited"
_UNTOLD = "it has no Slack and no PagerDuty: nobody is notified"
_UNCHANGED = "each job ran one version of its code, and no schema changed"
_REJECTED = "every event was taken"
_NO_ERROR = "nothing failed on its way; a counter of causes begins with its first"
_NO_MARQUEZ = "there is no Marquez beside it"
_NO_SHIPPER = "its log is the spool, and not in Kafka"
RIGHTLY_EMPTY = {
    "lineward-executive: Unauthorized accesses, 30 days A": _ACCESS,
    "lineward-executive: Unauthorized accesses by reason A": _ACCESS,
    "lineward-executive: Required fields reported A": _REGULATED,
    "lineward-executive: Expected edges reported A": _REGULATED,
    "lineward-executive: Personal data without a tag A": "no rule says pii",
    "lineward-executive: Time to notify A": _UNTOLD,
    "lineward-executive: Changes of 7 days by critical consumers A": _UNCHANGED,
    "lineward-executive: Changes of 7 days by critical consumers B": _UNCHANGED,
    "lineward-on-call: Downstream of recent changes A": _UNCHANGED,
    "lineward-on-call: Downstream of recent changes B": _UNCHANGED,
    "lineward-on-call: Downstream of recent changes C": _UNCHANGED,
    "lineward-on-call: Downstream of recent changes D": _UNCHANGED,
    "lineward-on-call: Rejected by the collector A": _REJECTED,
    "lineward-debug: Rejected by the collector A": _REJECTED,
    "lineward-on-call: Errors by stage A": _NO_ERROR,
    "lineward-debug: Parser failures A": _NO_ERROR,
    "lineward-debug: Since the catalog began A": _NO_ERROR,
    "lineward-on-call: Not forwarded to Marquez A": _NO_MARQUEZ,
    "lineward-on-call: Not forwarded to Marquez B": _NO_MARQUEZ,
    "lineward-on-call: Notifications in 24 hours A": _UNTOLD,
    "lineward-debug: Oldest waiting event B": _NO_SHIPPER,
    "lineward-debug: Spool depth C": _NO_SHIPPER,
}
# A broken dataset stays so, and nothing critical is downstream. On a busy machine a write may be
# late, which then recovers.
BY_CHANCE = {
    "lineward-executive: Time to resolve (MTTR) A",
    "lineward-on-call: Open incidents with owner and deadline C",
}
_CONFIGURATION = """
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: [lineward-rules.yml]
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{metrics}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{events}"]}}]}}
"""
_SCRAPED = 2.0  # no dataset is new before
_SETTLED = "sum(sli_tier:lineage_error_budget_left:ratio30d)"


def test_the_demo_fills_every_panel_and_leaves_nothing(tmp_path: Path):
    """Show each panel with all tiers, owners and datasets, in one run with a clean end.

    A panel has data, or is listed with the reason why it has none. A reason that no longer
    applies fails the test.
    """
    rules = rules_of(parse_policy(DEMO_POLICY.read_text("utf-8"))).replace(
        "interval: 2m", "interval: 2s"
    )
    rules = judging_budgets_at_once(rules)
    (tmp_path / "lineward-rules.yml").write_text(rules, encoding="utf-8")
    with start_demo(tmp_path / "t") as demo:
        assert_all_states_are_shown("".join(demo.output))
        with scraping(tmp_path, _CONFIGURATION.format(**demo.ports)) as url:
            empty = _find_empty_when_settled(Prometheus(url))
        was_running = demo.poll() is None
        assert demo.stop() == 0, "".join(demo.output)
        assert was_running
        assert_nothing_is_left(demo)

    assert sorted((empty - BY_CHANCE) ^ set(RIGHTLY_EMPTY)) == []


def _find_empty_when_settled(prometheus: Prometheus) -> set[str]:
    """Return the panels that had no data up to the evaluation of the last batch."""
    until(lambda: prometheus.run_query(_SETTLED, is_range=False))
    empty = dict(list_targets())

    def are_expected() -> bool:
        for name in [name for name, target in empty.items() if _has_data(prometheus, target)]:
            del empty[name]
        return empty.keys() - BY_CHANCE <= RIGHTLY_EMPTY.keys()

    # The evaluation of the last batch comes last on a busy machine.
    with suppress(AssertionError):
        until(are_expected, pause=_SCRAPED)
    return set(empty)


def _has_data(prometheus: Prometheus, target: dict[str, Any]) -> bool:
    expr = fill_variables(target["expr"], ALL)
    return bool(prometheus.run_query(expr, is_range=target["range"]))
