"""Address to which roles and commands post events."""

import pytest

from collector import settings as collector_settings
from lineage.process.environment import InvalidSettingError
from service.cli.commands.up import _addresses
from service.runtime.settings import Settings, read_settings


def test_the_collector_is_on_this_host_by_default(monkeypatch):
    """Read the address of a collector beside the role."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_PORT", "8710")

    assert read_settings().collector == "http://127.0.0.1:8710"


def test_the_collector_may_be_in_another_pod(monkeypatch):
    """Read an address; the collector itself, with the same variables, starts as before."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_URL", "http://lineward-collector.data.svc:8700/")

    assert read_settings().collector == "http://lineward-collector.data.svc:8700"
    assert collector_settings.read_collector_settings().place.collector_port == 8700


@pytest.mark.parametrize(
    ("host", "at"),
    [
        ("0.0.0.0", "http://127.0.0.1"),  # noqa: S104 - what the ports listen on
        ("::", "http://[::1]"),
        ("fd00::7", "http://[fd00::7]"),
        ("192.0.2.7", "http://192.0.2.7"),
    ],
)
def test_processes_on_this_machine_use_an_address_that_they_can_reach(host, at):
    """Read the addresses that commands ask and that `lineward up` prints."""
    settings = Settings(host=host)

    assert settings.collector == settings.own_collector == f"{at}:8700"
    assert (settings.service_url, settings.metrics_url) == (f"{at}:8701", f"{at}:8702")
    printed = _addresses(settings)
    assert f"Open {at}:8701/ " in printed
    assert host in at or host not in printed


@pytest.mark.parametrize("url", ["lineward-collector:8700", "http://me@host:1", "http://host/x"])
def test_a_wrong_address_is_named(monkeypatch, url):
    """Check the message for what is no address."""
    monkeypatch.setenv("LINEWARD_COLLECTOR_URL", url)

    with pytest.raises(InvalidSettingError, match="LINEWARD_COLLECTOR_URL"):
        read_settings()
