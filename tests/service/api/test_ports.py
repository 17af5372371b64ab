"""Ports of the service with clients that are slow, silent or broken."""

import http.client
import socket
import threading
from contextlib import ExitStack, closing

import pytest
from granian.constants import Interfaces
from prometheus_client import CollectorRegistry, Gauge

from lineage.process.http_hosts import OwnHosts
from service.api.app import create_app
from service.api.intake import Intake
from service.exporter.scraping import Scraping
from service.runtime.settings import Settings
from tests.service.serving import DEADLINE_SECONDS, answer_of, served
from tests.suite.waiting import until

_POST = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%b\r\n\r\n%b"
_CHUNKED = b"Transfer-Encoding: chunked"
_READERS = [b"/api/v1/suppressions", b"/api/v1/alertmanager", b"/api/v1/actions/reinfer"]
_BROKEN = [
    b"zz\r\n{}\r\n0\r\n\r\n",
    b"-2\r\n{}\r\n0\r\n\r\n",
    b"10000000000000000\r\n{}\r\n0\r\n\r\n",
    b"2;name=\x00value\n{}\r\n0\r\n\r\n",
    b"2\r\n{}garbage\r\n0\r\n\r\n",
    b"2\r\n{}\r\n0\r\nno colon here\r\n\r\n",
    b"2\r\n{}\r\n0\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
    b"2;" + b"e" * 70_000 + b"\r\n{}\r\n0\r\n\r\n",
    b"0x2\r\n{}\r\n0\r\n\r\n",
]
_OWN = OwnHosts("127.0.0.1")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """Start the port of the API without a catalog."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("none")))
    with served(Intake(app, body_seconds=DEADLINE_SECONDS)) as port:
        yield port


@pytest.fixture(scope="module")
def metrics():
    """Start the port of the metrics with one metric."""
    registry = CollectorRegistry()
    Gauge("lineage_one", "One.", registry=registry).set(1)
    with served(Scraping(registry, _OWN), Interfaces.ASGINL) as port:
        yield port


def status(
    port: int, path: str = "/livez", method: str = "GET", **headers: str
) -> tuple[int, bytes]:
    """Return status and body of one request."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        found = connection.getresponse()
        return found.status, found.read()


@pytest.fixture(params=["api", "metrics"])
def port(request):
    """Return each of the two ports."""
    return request.getfixturevalue(request.param)


def _is_closed(connection):
    connection.settimeout(0)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n"]
)
def test_clients_that_send_nothing_are_closed_and_stop_no_answer(port, begun):
    """Open more of them than Granian's default backpressure allows, which is the mutant."""
    with ExitStack() as held:
        silent = []
        for _ in range(200):
            one = held.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            one.sendall(begun)
            silent.append(one)

        assert status(port)[0] == 200
        until(lambda: all(_is_closed(one) for one in silent))
        assert status(port)[0] == 200


@pytest.mark.parametrize("path", [*_READERS, b"/login"])
def test_a_missing_body_is_answered_at_its_deadline(api, path):
    """Answer 408, also for a form, instead of waiting for ever."""
    kind = b"Sec-Fetch-Site: same-origin\r\nContent-Length: 900"
    form = _POST.replace(b"application/json", b"application/x-www-form-urlencoded")
    request = (form if path == b"/login" else _POST) % (path, kind, b"to")

    answer = answer_of(api, request)

    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("path", _READERS)
@pytest.mark.parametrize("body", _BROKEN)
def test_a_body_with_broken_framing_is_the_senders_fault(api, path, body):
    """Answer 400 or close the connection, as a 500 would report a fault of Lineward."""
    answer = answer_of(api, _POST % (path, _CHUNKED, body))

    assert not answer or answer.split(b" ")[1] in {b"400", b"413", b"431"}
    assert status(api)[0] == 200


@pytest.mark.parametrize("body", [b"", b"{", b'{"note": "x"'])
def test_a_body_that_is_cut_is_the_senders_fault(api, body):
    """Reject half a request after which the sending side is closed."""
    with closing(socket.create_connection(("127.0.0.1", api))) as connection:
        connection.settimeout(30)
        connection.sendall(_POST % (_READERS[0], b"Content-Length: 50", body))
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65_536)

    assert not answer or answer.startswith(b"HTTP/1.1 4")


def test_the_metrics_are_scraped_as_before(metrics):
    """Serve text and gzip, at `/` too, and nothing else."""
    kind, body = status(metrics, "/metrics")
    packed = status(metrics, "/metrics", Accept_Encoding="gzip")[1]

    assert (kind, b"lineage_one 1.0" in body, packed[:2]) == (200, True, b"\x1f\x8b")
    assert b"lineage_one 1.0" in status(metrics, "/")[1]
    assert status(metrics, "/nosuch")[0] == 404
    assert status(metrics, "/metrics", "POST")[0] == 405
    assert status(metrics, "/metrics", "HEAD") == (200, b"")


def test_scrapes_that_hang_are_bounded_in_number():
    """Use two threads for scrapes of a catalog that hangs, and answer others 503."""
    go_on = threading.Event()

    class Hanging:
        def collect(self):
            go_on.wait(60)
            return []

        def describe(self):
            return []

    registry = CollectorRegistry()
    registry.register(Hanging())
    with served(Scraping(registry, _OWN), Interfaces.ASGINL) as port, ExitStack() as held:
        before = threading.active_count()
        waiting = [
            held.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            for _ in range(40)
        ]
        for one in waiting:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try:
            until(lambda: status(port, "/metrics")[0] == 503)
            assert status(port, "/livez")[0] == 200
            assert threading.active_count() - before <= 2
        finally:
            go_on.set()


_FOREIGN = [
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
    {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost.evil.example:8701"},
]


@pytest.mark.parametrize("headers", _FOREIGN)
def test_requests_from_another_site_are_rejected(api, metrics, headers):
    """Reject them on both ports before anything is done, for reads and writes."""
    json = {"Content_Type": "application/json"}

    assert status(api, "/api/v1/datasets", **headers)[0] == 403
    for path in ("alertmanager", "suppressions", "actions/reinfer", "incidents/x/acknowledge"):
        assert status(api, f"/api/v1/{path}", "POST", **headers, **json)[0] == 403, path
    assert status(metrics, "/metrics", **headers)[0] == 403


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_requests_from_own_pages_and_programs_are_answered(api, metrics, site):
    """Answer 503 without a catalog; programs send no such header."""
    headers = {} if site is None else {"Sec_Fetch_Site": site}

    assert status(api, "/api/v1/datasets", **headers)[0] == 503
    assert status(metrics, "/metrics", **headers)[0] == 200


def test_a_link_from_another_site_is_followed(api):
    """Answer links of messages and wikis."""
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}

    assert status(api, "/login", **link)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8702", "10.1.2.3"])
def test_another_hosts_name_is_rejected(api, metrics, host):
    """Reject a page whose name was resolved to this host, for API and metrics."""
    assert status(api, "/api/v1/datasets", Host=host)[0] == 400
    assert status(metrics, "/metrics", Host=host)[0] == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "a/b", None])
def test_a_post_of_alertmanager_must_be_json(api, kind):
    """Reject all other types, which a page of another site could send."""
    headers = {} if kind is None else {"Content_Type": kind}

    assert status(api, "/api/v1/alertmanager", "POST", **headers)[0] == 415
