"""Every panel over the demo: a real Prometheus scrapes it, and is asked what Grafana would ask."""

from contextlib import suppress
from pathlib import Path

import pytest

from lineage.policy import parse
from service.demo.start import POLICY
from tests.alerts.rules.alertmanagers import scraping
from tests.alerts.rules.promtool import rules_of
from tests.dashboards.asked import ALL, Prometheus, filled, targets
from tests.e2e.demos import shown
from tests.service.waiting import until

pytestmark = pytest.mark.e2e

# What a shop of two minutes does not have; by panel, each with why.
_REGULATED = "no rule of the shop's policy says regulated"
_ACCESS = "its policy has no access section: nothing is audited"
_UNTOLD = "it has no Slack and no PagerDuty: nobody is told"
_UNCHANGED = "each job ran one version of its code, and no schema changed"
_REFUSED = "every event was taken"
_NO_ERROR = "nothing failed on its way; a counter of causes begins with its first"
_NO_MARQUEZ = "there is no Marquez beside it"
RIGHTLY_EMPTY = {
    "lineward-executive: Unauthorized accesses, 30 days A": _ACCESS,
    "lineward-executive: Unauthorized accesses by reason A": _ACCESS,
    "lineward-executive: Required fields that are known A": _REGULATED,
    "lineward-executive: Expected edges that were reported A": _REGULATED,
    "lineward-executive: Personal data without a tag A": "no rule says pii",
    "lineward-executive: Time to tell A": _UNTOLD,
    "lineward-executive: Changes of 7 days by critical consumers A": _UNCHANGED,
    "lineward-executive: Changes of 7 days by critical consumers B": _UNCHANGED,
    "lineward-on-call: Who reads of what changed A": _UNCHANGED,
    "lineward-on-call: Who reads of what changed B": _UNCHANGED,
    "lineward-on-call: Who reads of what changed C": _UNCHANGED,
    "lineward-on-call: Who reads of what changed D": _UNCHANGED,
    "lineward-on-call: Refused at the door A": _REFUSED,
    "lineward-debug: Rejected by the collector A": _REFUSED,
    "lineward-on-call: Failed on the way A": _NO_ERROR,
    "lineward-debug: Parser failures A": _NO_ERROR,
    "lineward-debug: Since the catalog began A": _NO_ERROR,
    "lineward-on-call: Not forwarded to Marquez A": _NO_MARQUEZ,
    "lineward-on-call: Not forwarded to Marquez B": _NO_MARQUEZ,
    "lineward-on-call: Told in 24 hours A": _UNTOLD,
}
# What is broken stays so, and nothing critical is behind it; on a busy machine a write may come
# late, which then is mended.
BY_CHANCE = {
    "lineward-executive: Time to mend (MTTR) A",
    "lineward-on-call: What is wrong, whose it is, how long is left C",
}
_CONFIGURATION = """
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: [lineward-rules.yml]
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{metrics}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{events}"]}}]}}
"""
_SCRAPED = 2.0  # nothing is new before
_SETTLED = "sum(sli_tier:lineage_error_budget_left:ratio30d)"


def test_every_panel_has_data_over_the_demo_or_is_known_to_have_none(tmp_path: Path):
    """With all tiers, owners and datasets; a listed reason that holds no more is taken out."""
    rules = rules_of(parse(POLICY.read_text("utf-8"))).replace("interval: 2m", "interval: 2s")
    (tmp_path / "lineward-rules.yml").write_text(rules, encoding="utf-8")
    with shown() as ports, scraping(tmp_path, _CONFIGURATION.format(**ports)) as url:
        prometheus = Prometheus(url)
        until(lambda: prometheus.ask(_SETTLED, is_range=False))
        # What comes last is the evaluation of the last batch, on a machine that is busy.
        with suppress(AssertionError):
            until(lambda: _empty(prometheus) - BY_CHANCE <= set(RIGHTLY_EMPTY), pause=_SCRAPED)
        empty = _empty(prometheus)

    assert sorted((empty - BY_CHANCE) ^ set(RIGHTLY_EMPTY)) == []


def _empty(prometheus: Prometheus) -> set[str]:
    return {
        name
        for name, target in targets()
        if not prometheus.ask(filled(target["expr"], ALL), is_range=target["range"])
    }
