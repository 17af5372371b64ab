"""Check the job that finds incidents and notifies: its steps, and their names in the log."""

import pytest
from structlog.testing import capture_logs

from alerts.detection.incident_detector import IncidentDetector
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.catalog.engine import catalog_url
from service.incidents import incident_worker
from service.runtime.settings import Settings
from tests.service.jobs import registry_of


@pytest.fixture
def tasks(embedded, tmp_path):
    """Build them as the service does, on a catalog that exists."""
    assert embedded
    settings = Settings(data_dir=tmp_path)
    return incident_worker.build_tasks(settings, RoutingSettings(), DeliverySettings())


def _run(tmp_path, tasks):
    registry = registry_of(catalog_url(tmp_path), lambda: tasks, jobs=incident_worker.JOBS)
    registry.run("work")
    return registry.states()


def _fail(_self, _engine):
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (IncidentDetector, "incident_detection"),
        (NotificationWorker, "notification"),
        (incident_worker.Sending, "sending"),
    ],
)
def test_log_and_status_name_the_job_that_failed(tmp_path, tasks, monkeypatch, broken, name):
    """Break each of the steps."""
    monkeypatch.setattr(broken, "__call__", _fail)
    with capture_logs() as logged:
        states = _run(tmp_path, tasks)
    failed = [each for each in logged if each["event"] == "periodic_job_failed"]

    assert [each["job"] for each in failed] == [name]
    assert {job.job: job.last_error for job in states if job.last_error} == {
        name: "ValueError: broken"
    }


def test_policy_detection_notification_and_sending_run_in_this_order(tmp_path, tasks, monkeypatch):
    """Run them in one job: a notification is sent in the run that found its incident."""
    ran = []
    for task in tasks:
        kind = type(task)
        monkeypatch.setattr(kind, "__call__", lambda self, _engine: ran.append(type(self).__name__))
    _run(tmp_path, tasks)

    assert ran == ["NotificationPolicy", "IncidentDetector", "NotificationWorker", "Sending"]


def test_alert_on_a_channel_has_the_link_of_its_runbook(embedded, tmp_path, monkeypatch):
    """Build it from the public address: the settings of delivery do not have this address."""
    given = {}
    monkeypatch.setattr(incident_worker, "Sender", lambda *_, **more: given.update(more))
    routing = RoutingSettings(public_url="https://lineward.test")
    tasks = incident_worker.build_tasks(Settings(data_dir=tmp_path), routing, DeliverySettings())
    with pytest.raises(AttributeError, match="begin"):
        tasks[-1](embedded)

    assert given["runbook"] == "https://lineward.test/runbooks/NotificationDeliveryFailing"


def test_a_diagnosis_that_hangs_delays_no_page(tmp_path, tasks, monkeypatch):
    """Keep it out of the job of the pages: a run of all its steps ends without it."""
    monkeypatch.setattr(
        "service.incidents.diagnosis.diagnose.Diagnostician.__call__",
        lambda *_: pytest.fail("the notifier compares runs"),
    )
    done = []
    monkeypatch.setattr(incident_worker.Sending, "__call__", lambda *_: done.append("sent"))
    _run(tmp_path, tasks)

    assert done == ["sent"]
    assert len(incident_worker.build_diagnosis(Settings(data_dir=tmp_path))) == 1
