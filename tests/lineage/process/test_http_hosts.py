"""Requests of other sites and for other hosts, compared with own ones."""

import pytest

from lineage.process.http_hosts import OwnHosts, find_cross_site, find_foreign_host, is_loopback

LOOPBACK = OwnHosts.read("127.0.0.1", "")
NAMED = OwnHosts.read("127.0.0.1", " lineage.example.com, Proxy.Example:8443 ,")


def _headers(**values: str):
    return {name.replace("_", "-"): value for name, value in values.items()}.get


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8700", "localhost", "LOCALHOST:1", "localhost.:8700", "[::1]:8700", "127.1.2.3"],
)
def test_names_of_this_machine_are_answered(host):
    """Accept any port: a tunnel or a container may map it."""
    assert find_foreign_host(host, LOOPBACK) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8700",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "10.0.0.7:8700",
        "0.0.0.0:8700",
        "[",
        "",
        "évil.example",
    ],
)
def test_other_hosts_are_rejected_on_loopback(host):
    """Return a message with the header and the setting."""
    problem = find_foreign_host(host, LOOPBACK)

    assert problem is not None
    assert problem.startswith(f"Host {host!r}: ")
    assert "LINEWARD_ALLOWED_HOSTS" in problem


def test_a_port_for_other_machines_answers_to_any_name():
    """Accept any name: names of other machines for it are unknown."""
    assert find_foreign_host("lineage.svc:8700", OwnHosts("0.0.0.0")) is None  # noqa: S104


@pytest.mark.parametrize(
    "host", ["lineage.example.com", "LINEAGE.example.com:443", "proxy.example"]
)
def test_allowed_hosts_are_answered(host):
    """Accept the own name of a proxy on this machine."""
    assert find_foreign_host(host, NAMED) is None


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {}),
        ("POST", {"sec_fetch_site": "same-origin", "origin": "https://lineage.example.com"}),
        ("POST", {"sec_fetch_site": "none"}),
        ("POST", {"host": "127.0.0.1:8700", "origin": "http://127.0.0.1:8700"}),
        ("POST", {"host": "x", "origin": "https://lineage.example.com"}),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}),
    ],
    ids=["no browser", "own page", "typed", "own page, old browser", "proxy", "link"],
)
def test_own_pages_programs_and_links_are_answered(method, headers):
    """Accept pages, programs and links."""
    assert find_cross_site(method, _headers(**headers), NAMED) is None


@pytest.mark.parametrize(
    ("method", "headers", "named"),
    [
        ("POST", {"sec_fetch_site": "cross-site"}, "Sec-Fetch-Site 'cross-site'"),
        ("POST", {"sec_fetch_site": "same-site"}, "Sec-Fetch-Site 'same-site'"),
        ("POST", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, "Sec-Fetch"),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, "Sec-Fetch"),
        ("POST", {"sec_fetch_site": "", "sec_fetch_mode": "navigate"}, "Sec-Fetch-Site ''"),
        ("POST", {"host": "127.0.0.1:8700", "origin": "https://evil.example"}, "Origin 'https"),
        ("POST", {"host": "127.0.0.1:8700", "origin": "http://127.0.0.1:3000"}, "Origin 'http"),
        ("POST", {"host": "127.0.0.1:8700", "origin": "null"}, "Origin 'null'"),
        ("GET", {"host": "", "origin": "evil"}, "Origin 'evil'"),
    ],
)
def test_requests_of_other_sites_are_rejected(method, headers, named):
    """Reject forms, `fetch` and images of other pages, also of another port of this machine."""
    problem = find_cross_site(method, _headers(**headers), NAMED)

    assert problem is not None
    assert problem.startswith(named)


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("::1", True), ("::ffff:127.0.0.1", True), ("127.9.9.9", True), ("::ffff:10.0.0.1", False)],
)
def test_loopback_addresses(host, is_own):
    """Accept all of 127.0.0.0/8, in either notation."""
    assert is_loopback(host) is is_own
