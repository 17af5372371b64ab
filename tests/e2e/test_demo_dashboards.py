"""Every panel over the demo: a real Prometheus scrapes it, and is asked what Grafana would ask."""

import time
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
RIGHTLY_EMPTY: dict[str, str] = {}
_CONFIGURATION = """
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: [lineward-rules.yml]
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{metrics}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{events}"]}}]}}
"""
_SETTLED = "sum(sli_tier:lineage_error_budget_left:ratio30d)"


def test_every_panel_has_data_over_the_demo_or_is_known_to_have_none(tmp_path: Path):
    """With all tiers, owners and datasets; a listed reason that holds no more is taken out."""
    rules = rules_of(parse(POLICY.read_text("utf-8"))).replace("interval: 2m", "interval: 2s")
    (tmp_path / "lineward-rules.yml").write_text(rules, encoding="utf-8")
    with shown() as ports, scraping(tmp_path, _CONFIGURATION.format(**ports)) as url:
        prometheus = Prometheus(url)
        until(lambda: prometheus.ask(_SETTLED, is_range=False), seconds=120)
        time.sleep(30)  # rates need two scrapes of what has moved
        empty = {
            name
            for name, target in targets()
            if not prometheus.ask(filled(target["expr"], ALL), is_range=target["range"])
        }

    assert empty == set(RIGHTLY_EMPTY)
