"""Address to which roles and commands post events."""

import pytest

from collector import settings as collector_settings
from lineage.process.environment import InvalidSettingError
from service.runtime.settings import read_settings


def test_the_collector_is_on_this_host_by_default(monkeypatch):
    """Read the address of a collector beside the role."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_PORT", "8710")

    assert read_settings().collector == "http://127.0.0.1:8710"


def test_the_collector_may_be_in_another_pod(monkeypatch):
    """Read an address; the collector itself, with the same variables, starts as before."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_URL", "http://lineward-collector.data.svc:8700/")

    assert read_settings().collector == "http://lineward-collector.data.svc:8700"
    assert collector_settings.read_collector_settings().place.collector_port == 8700


@pytest.mark.parametrize("url", ["lineward-collector:8700", "http://me@host:1", "http://host/x"])
def test_a_wrong_address_is_named(monkeypatch, url):
    """Check the message for what is no address."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_URL", url)

    with pytest.raises(InvalidSettingError, match="LINEWARD_COLLECTOR_URL"):
        read_settings()
