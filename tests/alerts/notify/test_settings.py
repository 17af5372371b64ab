"""Settings of routing."""

import pytest

from alerts.notify import settings as notify_settings
from lineage.process.environment import InvalidSettingError

OWN = "http://10.0.0.5:9701"  # the service's address


def test_defaults_are_safe(monkeypatch):
    """Notify at once, link to the service's own address, use no webhook."""
    monkeypatch.setattr("lineage.process.environment.variables", dict)

    found = notify_settings.read_routing(OWN)

    assert found == notify_settings.RoutingSettings(public_url=OWN)
    assert (found.mode, found.tickets, found.fallback) == ("direct", None, None)


def test_the_public_address_comes_before_the_services_own(monkeypatch):
    """Set where a proxy stands in front, also to an address of this machine."""
    variables = {"LINEWARD_ALERTS_PUBLIC_URL": "http://127.0.0.1:8701"}
    monkeypatch.setattr("lineage.process.environment.variables", lambda: variables)

    assert notify_settings.read_routing(OWN).public_url == "http://127.0.0.1:8701"


def test_webhook_and_fallback_are_those_of_delivery(monkeypatch):
    """Set them once."""
    variables = {
        "LINEWARD_ALERTS_MODE": "alertmanager",
        "LINEWARD_ALERTS_DIGEST_HOUR": "7",
        "LINEWARD_DELIVERY_WEBHOOK_URL": "https://tickets.test",
        "LINEWARD_DELIVERY_FALLBACK": "slack:#last",
    }
    monkeypatch.setattr("lineage.process.environment.variables", lambda: variables)

    found = notify_settings.read_routing(OWN)

    assert (found.mode, found.digest_hour) == ("alertmanager", 7)
    assert (found.tickets, found.fallback) == ("webhook:tickets", "slack:#last")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODE", "both"),
        ("PUBLIC_URL", "javascript:alert(1)"),
        ("PUBLIC_URL", "https:// x"),
        ("PLATFORM", ""),
        ("DIGEST_HOUR", "24"),
        ("RELEASE_SECONDS", "-1"),
        ("NO_SUCH", "1"),
    ],
)
def test_invalid_setting_is_rejected_by_name(monkeypatch, name, value):
    """Stop at the start, and name the variable."""
    variable = f"LINEWARD_ALERTS_{name}"
    monkeypatch.setattr("lineage.process.environment.variables", lambda: {variable: value})

    with pytest.raises(InvalidSettingError, match=variable):
        notify_settings.read_routing(OWN)


def test_invalid_fallback_stops_the_process(monkeypatch):
    """Find it at the start: it is needed when all else fails."""
    variables = {"LINEWARD_DELIVERY_FALLBACK": "#last"}
    monkeypatch.setattr("lineage.process.environment.variables", lambda: variables)

    with pytest.raises(InvalidSettingError, match="LINEWARD_DELIVERY_FALLBACK: channel: expected"):
        notify_settings.read_routing(OWN)
