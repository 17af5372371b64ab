"""Incidents and notifications of a service that starts with an invalid policy file."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from litestar.testing import TestClient
from sqlalchemy import select, update
from structlog.testing import capture_logs

from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import LAST_POLICY
from lineage.catalog.policy_notes import decode_policy, encode_policy
from lineage.catalog.tables import incident, meta, notification
from lineage.policy import parse_policy
from service.api.access.guard import Guard
from service.api.app import create_app
from service.incidents import incident_worker
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.estate import NOW, immediate_policy

_TOKEN = "0" * 64
VALID = f"""\
owners:
  - {{name: platform, slack: "#platform", escalation: [{{after_minutes: 15, slack: "#boss"}}]}}
access: {{tokens: [{{name: boss, sha256: "{_TOKEN}", roles: [admin]}}]}}
people: [{{name: ann, slack: U0123ABCD}}]
"""
INVALID = "owners: 7\n"
_EXAMPLE = Path(__file__).parents[3] / "docs" / "policy.md"


class Service:
    """Tasks of one process in each second, with a pipeline that has stopped."""

    def __init__(self, catalog, file, *, fallback=None) -> None:
        self.catalog, self.now = catalog, NOW
        settings = Settings(data_dir=file.parent, policy=file)
        routing = RoutingSettings(fallback=fallback)
        given = (settings, routing, DeliverySettings(), lambda: self.now, immediate_policy(file))
        # Sending is left out: what is to be sent stands in the catalog.
        self.tasks = incident_worker.build_tasks(*given)[:-1]

    def turn(self, *, minutes=0):
        """Turn now and after each minute; return the channels of all notifications, sorted."""
        self._run()
        for _ in range(minutes):
            self.now += timedelta(minutes=1)
            self._run()
        with self.catalog.connect() as connection:
            return sorted(connection.scalars(select(notification.c.channel)))

    def _run(self):
        for task in self.tasks:
            task(self.catalog)


@pytest.fixture
def file(embedded, tmp_path):
    """Return a valid policy file beside an evaluation of an hour ago."""
    shop.fill(embedded, evaluated_at=NOW - timedelta(hours=1))
    path = tmp_path / "lineward.yaml"
    path.write_text(VALID)
    return path


def _names_of_incidents(catalog):
    with catalog.connect() as connection:
        found = select(incident.c.root_name).where(incident.c.state == "open")
        return list(connection.scalars(found))


def test_lineward_s_own_fault_is_notified_by_the_last_valid_policy(embedded, file):
    """Notify although the file is invalid now: it was valid in an earlier run."""
    before = Service(embedded, file)
    before.tasks[0](embedded)
    file.write_text(INVALID)

    service = Service(embedded, file)
    service.turn()
    channels = service.turn(minutes=5)

    assert "slack:#platform" in channels
    assert "pipeline" in _names_of_incidents(embedded)


def test_an_open_incident_is_escalated_and_not_notified_again(embedded, file):
    """Notify nobody by the restart, and escalate a quarter of an hour later."""
    before = Service(embedded, file)
    before.turn()
    notified = before.turn(minutes=5)
    file.write_text(INVALID)

    service = Service(embedded, file)
    restarted = service.turn(minutes=5)
    later = service.turn(minutes=16)

    assert "slack:#platform" in notified
    assert restarted == notified
    assert "slack:#boss" in later


def test_without_any_valid_policy_the_fallback_is_notified(embedded, file):
    """Notify the owner once the file is valid."""
    file.write_text(INVALID)
    service = Service(embedded, file, fallback="slack:#fallback")
    service.turn()

    assert set(service.turn(minutes=5)) == {"slack:#fallback"}


def test_the_owner_is_notified_once_the_file_is_valid(embedded, file):
    """Keep the incident open until there is a channel, without a fallback or stored policy."""
    file.write_text(INVALID)
    service = Service(embedded, file)
    service.turn()
    assert service.turn(minutes=5) == []
    assert "pipeline" in _names_of_incidents(embedded)

    file.write_text(VALID)
    service.turn()

    assert "slack:#platform" in service.turn(minutes=1)


def test_a_newer_policy_of_another_service_is_used(embedded, file, tmp_path):
    """Use the policy that the service with the valid file stored."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "lineward.yaml").write_text('owners: [{name: platform, slack: "#new"}]\n')
    Service(embedded, file).tasks[0](embedded)
    file.write_text(INVALID)
    service = Service(embedded, file)
    service.tasks[0](embedded)

    Service(embedded, other / "lineward.yaml").tasks[0](embedded)
    service.tasks[0](embedded)

    assert service.tasks[0].current().owners[0].slack == "#new"


def test_the_api_answers_nobody_by_a_stored_policy(embedded, file):
    """Answer 503: a stored policy has recipients and no tokens."""
    Service(embedded, file).tasks[0](embedded)
    file.write_text(INVALID)
    url = embedded.url.render_as_string(hide_password=False)
    settings = Settings(catalog_url=url, policy=file, data_dir=file.parent)
    service = Service(embedded, file)
    service.turn()
    app = create_app(
        settings, lambda: NOW, guard=Guard(settings, lambda: NOW, immediate_policy(file))
    )
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    codes = {path: client.get(path).status_code for path in ("/", "/api/v1/slis", "/readyz")}

    assert codes == dict.fromkeys(codes, 503)
    with embedded.connect() as connection:
        stored = connection.scalar(select(meta.c.value).where(meta.c.name == LAST_POLICY))
    assert [word for word in (_TOKEN, "tokens", "U0123ABCD") if word in stored] == []


def test_a_stored_policy_of_another_release_is_no_policy(embedded, file):
    """Log it, and notify the fallback."""
    Service(embedded, file).tasks[0](embedded)
    with write_transaction(embedded) as connection:
        mine = meta.c.name == LAST_POLICY
        connection.execute(update(meta).where(mine).values(value='{"hash":"x","policy":{"a":1}}'))
    file.write_text(INVALID)
    service = Service(embedded, file, fallback="slack:#fallback")

    with capture_logs() as logged:
        service.turn()
        service.turn()

    events = [each["event"] for each in logged]
    assert events.count("stored_policy_unreadable") == 1
    assert events.count("notifications_without_policy") == 1
    assert "slack:#fallback" in service.turn(minutes=5)


def test_a_policy_with_everything_is_stored_and_read_again():
    """Store the documented example without its access rules and people, and keep its hash."""
    text = _EXAMPLE.read_text().split("```yaml\n")[1].split("```")[0]
    policy = parse_policy(text)

    restored = decode_policy(encode_policy(policy))

    assert restored == msgspec.structs.replace(policy, access=msgspec.UNSET, people=())
    assert restored.hash == policy.hash
    assert restored.guard is None
