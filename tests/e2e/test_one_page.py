"""Killed job: one page, to its owner, through the real Prometheus and Alertmanager."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from lab.demo.spark import http, listener_conf
from lineage.catalog.engine import catalog_url
from lineage.catalog.reader import open_reader
from tests.alerts.rules.alertmanagers import hasty, running, scraping
from tests.e2e.running import Up, accepting
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.slack import FakeSlack
from tests.suite.waiting import until

# The test waits for clocks: another worker runs Spark jobs meanwhile.
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("waits")]

SALES, FINANCE, PLATFORM = "C0000001", "C0000002", "C0000009"
KEY = "R" * 32
_LIMIT, _RAISED = "limit: 100s", "limit: 1h"
_POLICY = """
sources: ["file{lake}/landing/*", "file{lake}/ref/*"]
owners:
  - {{name: sales, slack: C0000001, pagerduty_key_file: sales.key}}
  - {{name: finance, slack: C0000002}}
  - {{name: platform, slack: C0000009, pagerduty_key_file: platform.key}}
jobs:
  - {{match: shop/*, owner: sales}}
datasets:
  - {{match: "file{lake}/core/orders", tier: important, owner: sales, limit: 100s}}
  - {{match: "file{lake}/mart/daily", tier: critical, owner: finance, limit: 1h}}
"""
_PROMETHEUS = """
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: [lineward-rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{metrics}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{collector}"]}}]}}
"""


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    """Start a workspace of Slack."""
    fake = FakeSlack()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def pagerduty() -> Iterator[FakePagerDuty]:
    """Start an account of PagerDuty; the platform's service has a key of its own."""
    fake = FakePagerDuty(trustme.CA())
    fake.listen()
    yield fake
    fake.stop()


@pytest.fixture
def shop(tmp_path: Path, lake: Path, slack: FakeSlack, pagerduty: FakePagerDuty) -> Iterator[Up]:
    """Start a `lineward up` that waits for Alertmanager's webhook before it notifies."""
    (tmp_path / "sales.key").write_text(KEY)
    (tmp_path / "platform.key").write_text("S" * 32)
    (tmp_path / "token").write_text(slack.token)
    (tmp_path / "lineward.yaml").write_text(_POLICY.format(lake=lake))
    authority = pagerduty.write_authority(tmp_path / "authority.pem")
    settings = {
        "LINEWARD_POLICY": str(tmp_path / "lineward.yaml"),
        "LINEWARD_ALERTS_MODE": "alertmanager",
        "LINEWARD_DELIVERY_SLACK_URL": slack.url,
        "LINEWARD_DELIVERY_SLACK_TOKEN_FILE": str(tmp_path / "token"),
        "LINEWARD_DELIVERY_PAGERDUTY_URL": pagerduty.url,
        "LINEWARD_DELIVERY_PAGERDUTY_KEYS": str(tmp_path),
        "LINEWARD_DELIVERY_PAGERDUTY_CA_FILE": str(authority),
    }
    with accepting(tmp_path, **settings) as up:
        yield up


@pytest.fixture
def watched(tmp_path: Path, shop: Up) -> Iterator[Up]:
    """Start the real servers with the rendered rules and routes."""
    service = f"http://127.0.0.1:{shop.ports['SERVICE']}"
    policy = ("--policy", str(tmp_path / "lineward.yaml"), "--lineward-url", service)
    rules = shop.text("render", "rules", *policy)
    (tmp_path / "lineward-rules.yml").write_text(rules)
    routes = shop.text("render", "alertmanager", *policy, "--watchdog-url", f"{service}/livez")
    with running(tmp_path, hasty(routes)) as alertmanager:
        text = _PROMETHEUS.format(
            alertmanager=alertmanager.address,
            metrics=shop.ports["METRICS"],
            collector=shop.ports["COLLECTOR"],
        )
        with scraping(tmp_path, text):
            yield shop


def _kill_in_its_middle(up: Up, job: subprocess.Popen[bytes]) -> None:
    until(lambda: _writes(up))
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()


def _writes(up: Up) -> bool:
    """Return whether a run that has not ended is known to write."""
    sql = "SELECT count(*) FROM run WHERE job_name LIKE 'clean.adaptive%' AND completed_at IS NULL"
    with open_reader(catalog_url(up.data_dir)) as reader:
        return bool(reader.rows(sql)[0][0])


def _is_good(up: Up) -> bool:
    """Return whether the last evaluation found the dataset fresh, by its new write."""
    sql = """SELECT count(*) FROM dataset_state s JOIN dataset d ON d.dataset_key = s.dataset_key
    WHERE d.name LIKE '%core/orders' AND s.sli = 'M2' AND s.state = 'good'"""
    with open_reader(catalog_url(up.data_dir)) as reader:
        return bool(reader.rows(sql)[0][0])


def _raise_limit(up: Up) -> None:
    """Keep what was just written from being late again before its incident is resolved."""
    policy = up.data_dir.parent / "lineward.yaml"
    text = policy.read_text()
    assert _LIMIT in text
    policy.write_text(text.replace(_LIMIT, _RAISED))


def test_one_fault_is_one_page_to_its_owner_and_ends(  # noqa: PLR0913, PLR0917 - of fixtures
    watched: Up, lake: Path, slack: FakeSlack, pagerduty: FakePagerDuty, submit, run
):
    """Send a message, a trigger and a downstream notice, none for a burn rate; resolve all."""
    conf = listener_conf(http(watched.collector), namespace="shop")
    run("shop", lake, conf, "ingest", "clean", "report")
    (lake / "stuck").touch()
    _kill_in_its_middle(watched, submit("shop", lake, conf, "clean"))
    (lake / "stuck").unlink()

    until(lambda: pagerduty.pages)
    until(lambda: slack.posts(SALES))
    [post] = slack.posts(SALES)
    for word in ("clean", "mart/daily", f"/incidents/{pagerduty.pages[0][1]}"):
        assert word in str(post)
    assert [key for key, _ in pagerduty.pages] == [KEY]
    until(lambda: slack.posts(FINANCE))
    assert "core/orders" not in str(slack.posts(FINANCE))

    run("shop", lake, conf, "clean")
    until(lambda: _is_good(watched))
    _raise_limit(watched)
    until(lambda: set(pagerduty.alerts.values()) == {"resolved"})
    assert [key for key, _ in pagerduty.pages] == [KEY]
    assert len(slack.posts(SALES)) == 1
    # A young budget may leave a ticket of the platform, but no page.
    assert not [post for post in slack.posts(PLATFORM) if post["text"].startswith("Page")]
    assert slack.mentions == []
