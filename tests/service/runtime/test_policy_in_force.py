"""Invalid policy file beside a running service: its effects and reports."""

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import select

from alerts.notify.settings import RoutingSettings
from lineage.catalog.policy_notes import PolicyNotes
from lineage.catalog.tables import meta, notification
from service.api.access.guard import Guard
from service.api.app import create_app
from service.cli.commands.status import status_text
from service.cli.terminal import console
from service.exporter.metrics import CatalogCollector
from service.queries.status import load_status
from service.runtime.settings import Settings
from tests.alerts.notify.alertmanager_calls import BURN, alert, body
from tests.service import shop
from tests.service.api.access.estate import NOW, immediate_policy

VALID = 'owners: [{name: platform, slack: "#platform"}]\nobjectives: {freshness: {all: 0.9}}\n'
JSON = {"Content-Type": "application/json"}
INVALID = ["", "   \n", "owners: 7\n", "owners: [{name: pla", "suppressions:\n  - {name: x}\n"]
ASKED = ("/", "/api/v1/slis", "/api/v1/suppressions", "/api/v1/status", "/readyz")


class Service:
    """Process with an API and metrics over one policy."""

    def __init__(self, catalog, policy) -> None:
        url = catalog.url.render_as_string(hide_password=False)
        self.settings = Settings(catalog_url=url, policy=policy, data_dir=policy.parent)
        self.in_force = immediate_policy(policy)
        guard = Guard(self.settings, lambda: NOW, self.in_force)
        routing = RoutingSettings(public_url="https://lineward.test")
        app = create_app(self.settings, lambda: NOW, guard=guard, routing=routing)
        self.client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def metrics(self):
        """Return the text of one scrape."""
        registry = CollectorRegistry()
        registry.register(CatalogCollector(self.settings, lambda: NOW, self.in_force))
        return generate_latest(registry).decode()


@pytest.fixture
def policy(tmp_path):
    """Return a valid file."""
    file = tmp_path / "lineward.yaml"
    file.write_text(VALID)
    return file


@pytest.mark.parametrize("invalid", INVALID)
def test_an_invalid_file_changes_nothing(embedded, policy, invalid):
    """Use the policy before it for API, pages, metrics and Alertmanager's calls."""
    shop.fill(embedded, evaluated_at=NOW)
    service = Service(embedded, policy)
    objective = 'lineage_sli_objective_ratio{sli="freshness",tier="critical"} 0.9'
    assert objective in service.metrics()
    policy.write_text(invalid)

    answers = {path: service.client.get(path).status_code for path in ASKED}
    answer = service.client.post("/api/v1/alertmanager", content=body(alert(BURN)), headers=JSON)

    assert answers == dict.fromkeys(ASKED, 200)
    assert (answer.status_code, answer.json()) == (
        200,
        {"released": 0, "notifications": 1, "told": 1},
    )
    with embedded.connect() as connection:
        assert connection.scalar(select(notification.c.channel)) == "slack:#platform"
    assert objective in service.metrics()


@pytest.mark.parametrize("invalid", INVALID)
def test_a_rejected_file_is_shown(embedded, policy, invalid):
    """Show it in the metrics, the status of API and command line, and on the first page."""
    shop.fill(embedded, evaluated_at=NOW)
    service = Service(embedded, policy)
    assert 'lineage_policy_rejected{role="service"} 0.0' in service.metrics()
    note = PolicyNotes("service", service.in_force.standing)
    policy.write_text(invalid)
    note(embedded)

    metrics = service.metrics()
    assert 'lineage_policy_rejected{role="service"} 1.0' in metrics
    assert 'lineage_policy_in_force{role="service"} 1.0' in metrics
    (answer,) = service.client.get("/api/v1/status").json()["policies"]
    error = service.in_force.standing().error
    assert answer == {"role": "service", "hash": service.in_force.current().hash, "error": error}
    # The command is another process: it reads what the service noted.
    terminal = console()
    with terminal.capture() as shown:
        terminal.print(status_text(load_status(service.settings, NOW)))
    assert "the policy file is rejected" in " ".join(shown.get().split())
    assert "the policy file is rejected, the previous one stays in force (service)" in (
        service.client.get("/").text
    )
    policy.write_text(VALID)
    note(embedded)
    assert [one.error for one in load_status(service.settings, NOW).policies] == [None]


@pytest.mark.parametrize("invalid", INVALID)
def test_a_service_that_starts_with_an_invalid_file_is_not_ready(embedded, policy, invalid):
    """Stay alive without being ready, with metrics and without objectives."""
    shop.fill(embedded, evaluated_at=NOW)
    policy.write_text(invalid)
    service = Service(embedded, policy)

    assert service.client.get("/livez").status_code == 200
    ready = service.client.get("/readyz")
    assert (ready.status_code, ready.json()["title"]) == (503, "Not ready")
    assert service.client.get("/api/v1/slis").status_code == 503
    metrics = service.metrics()
    assert 'lineage_policy_in_force{role="service"} 0.0' in metrics
    assert "lineage_sli_objective_ratio{" not in metrics
    assert "lineage_sli_good_total{" in metrics
    policy.write_text(VALID)
    assert service.client.get("/readyz").status_code == 200


def test_the_policy_of_a_role_is_written_once_a_change(embedded, policy):
    """Write nothing for a note without a change."""
    in_force = immediate_policy(policy)
    note = PolicyNotes("service", in_force.standing)
    note(embedded)
    with embedded.begin() as connection:
        connection.execute(meta.delete())
    note(embedded)
    with embedded.connect() as connection:
        assert connection.scalar(select(meta.c.value)) is None


def test_metrics_without_a_catalog_show_the_policy(tmp_path, policy):
    """Show the policy of the process itself."""
    settings = Settings(data_dir=tmp_path / "none", policy=policy)
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings, policy=immediate_policy(policy)))

    text = generate_latest(registry).decode()

    assert "lineage_catalog_readable 0.0" in text
    assert 'lineage_policy_rejected{role="service"} 0.0' in text
