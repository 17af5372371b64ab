"""Real Alertmanager and Prometheus, and a webhook that receives their messages."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

Labels = dict[str, str]


class ReceivedCalls:
    """Calls that a webhook received, as (path, token, body).

    Attributes:
        shown: the answer to a GET.
    """

    def __init__(self) -> None:
        self.shown = ""
        self.calls: list[tuple[str, str | None, dict[str, Any]]] = []

    def alerts(self) -> set[tuple[str, str]]:
        """Return receiver and name of each alert that was sent as firing."""
        return {
            (body["receiver"], alert["labels"]["alertname"])
            for _, _, body in list(self.calls)
            for alert in body["alerts"]
            if alert["status"] == "firing"
        }


@contextmanager
def listening() -> Iterator[tuple[str, ReceivedCalls]]:
    """Return the URL of a webhook that accepts everything, and what it received."""
    received = ReceivedCalls()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.calls.append((self.path, self.headers["Authorization"], body))
            self.send_response(200)
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(received.shown.encode())

        def log_message(self, *_: object) -> None:
            """Print nothing on the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Alertmanager:
    """Running Alertmanager, by its URL."""

    def __init__(self, url: str, process: subprocess.Popen[bytes]) -> None:
        self._url = url
        self._process = process

    @property
    def address(self) -> str:
        """Return the address for Prometheus' configuration."""
        return self._url.removeprefix("http://")

    def post(self, *alerts: Labels, **instants: str) -> None:
        """Post alerts as Prometheus does; without an `endsAt` they fire."""
        more = {"annotations": {"summary": "x"}, **instants}
        body = [{"labels": labels, **more} for labels in alerts]
        CLIENT.post(f"{self._url}/api/v2/alerts", json=body).raise_for_status()

    def kill(self) -> None:
        """Kill the process, and wait for its end."""
        self._process.kill()
        self._process.wait()

    def states(self) -> dict[str, str]:
        """Return `active` or `suppressed`, by the alert's name and its incident."""
        found = CLIENT.get(f"{self._url}/api/v2/alerts").raise_for_status().json()
        return {
            " ".join(
                filter(None, (one["labels"]["alertname"], one["labels"].get("incident")))
            ): one["status"]["state"]
            for one in found
        }


@contextmanager
def running(folder: Path, configuration: str) -> Iterator[Alertmanager]:
    """Run the real binary with this configuration, alone."""
    (folder / "am.yml").write_text(configuration, encoding="utf-8")
    command = ["prometheus-alertmanager", "--config.file=am.yml", "--storage.path=data"]
    with _start_server(folder, [*command, "--cluster.listen-address="], "am.log") as (url, process):
        yield Alertmanager(url, process)


@contextmanager
def scraping(folder: Path, configuration: str, *, resend_delay: str = "1s") -> Iterator[str]:
    """Return the URL of the real Prometheus with this configuration."""
    (folder / "prometheus.yml").write_text(configuration, encoding="utf-8")
    command = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb"]
    # It finds its Alertmanager a few seconds after its start: what fired before is sent again.
    command.append(f"--rules.alert.resend-delay={resend_delay}")
    with _start_server(folder, command, "prometheus.log") as (url, _):
        yield url


@contextmanager
def _start_server(
    folder: Path, command: list[str], log_name: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start one of the two on a free port; return its URL and process."""
    address = f"127.0.0.1:{free_port()}"
    command = [*command, f"--web.listen-address={address}"]
    log_file = folder / log_name
    with (
        log_file.open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as process,
    ):
        try:
            until(lambda: _is_ready(f"http://{address}"), describe=log_file.read_text)
            yield f"http://{address}", process
        finally:
            process.terminate()


def _is_ready(url: str) -> bool:
    try:
        return CLIENT.get(f"{url}/-/ready").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def hasty(configuration: str, wait: str = "0s") -> str:
    """Return the configuration with short waits: groups are sent at once, or after so long."""
    configuration = re.sub(r"group_interval: \w+", "group_interval: 1s", configuration)
    return re.sub(r"group_wait: \w+", f"group_wait: {wait}", configuration)
