"""Tasks of the notifier, and their names in the log."""

import pytest
from structlog.testing import capture_logs

from alerts.detection.incident_detector import IncidentDetector
from alerts.detection.notification_worker import NotificationWorker
from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.catalog.engine import catalog_url
from service.incidents import incident_worker
from service.runtime.periodic import PeriodicWorker
from service.runtime.settings import Settings


@pytest.fixture
def works(embedded, tmp_path):
    """Return the tasks of the service on an existing catalog."""
    assert embedded
    settings = Settings(data_dir=tmp_path)
    return incident_worker.build_tasks(settings, RoutingSettings(), DeliverySettings())


def _fail(_self, _engine):
    raise ValueError("broken")


@pytest.mark.parametrize("broken", [IncidentDetector, NotificationWorker, incident_worker.Sending])
def test_the_log_names_the_task_that_failed(tmp_path, works, monkeypatch, broken):
    """Log the class of each task."""
    monkeypatch.setattr(broken, "__call__", _fail)
    with capture_logs() as logged:
        PeriodicWorker(catalog_url(tmp_path), works).turn()
    failed = [each for each in logged if each["event"] == "bookkeeping_failed"]

    assert [each["work"] for each in failed] == [broken.__name__]


def test_a_diagnosis_that_hangs_delays_no_page(tmp_path, works, monkeypatch):
    """Run all tasks of the notifier without it."""
    monkeypatch.setattr(
        "service.incidents.diagnosis.diagnose.Diagnostician.__call__",
        lambda *_: pytest.fail("the notifier compares runs"),
    )
    done = []
    monkeypatch.setattr(incident_worker.Sending, "__call__", lambda *_: done.append("sent"))
    PeriodicWorker(catalog_url(tmp_path), works).turn()

    assert done == ["sent"]
    assert len(incident_worker.diagnosis(Settings(data_dir=tmp_path))) == 1
