"""Marquez with the measured behaviour of 0.51.1, faults included: an HTTP server in a thread.

It keeps stored events through a restart on the same port, and remembers acknowledged ones, so that
a test can distinguish missing events from repeated ones.
"""

import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from tests.fakes.marquez_events import Event, Raw, node_ids, parse_time, raw, validate
from tests.fakes.marquez_http import Answer, Handler

_DEFAULT_BEFORE = "2030-01-01T00:00:00+00:00"  # hides later events
_DEFAULT_AFTER = "1970-01-01T00:00:00+00:00"
_ADDED_FACETS = ("documentation", "sourceCodeLocation")


class FakeMarquez:
    """Server with its content and its current faults.

    Attributes:
        rows: raw rows, in the order of their arrival; the same body twice is two.
        acked: bodies that were answered 201, in the order of their storing.
        status: answers this to everything, storing nothing, while it is set.
        is_store_down: its database takes no writes: a valid POST is answered 500.
        is_poison: an event for which this is true is answered 500, and not stored.
        lost_answers: so many next events are stored, and the connection closed instead of a
    201.
        torn: so many next events are stored, and answered 500.
        rejections: so many next POSTs are answered 503, storing nothing.
        latecomers: one of these is stored between two GETs of events, so that pages shift.
        lineage: status and delay in seconds of a lineage query.
        seen: how often each method, path and status was answered.
    """

    def __init__(self, seed: int = 0) -> None:
        self.rows: list[Raw] = []
        self.acked: list[bytes] = []
        self.status: int | None = None
        self.is_store_down = False
        self.is_poison: Callable[[Event], bool] = lambda _: False
        self.lost_answers = 0
        self.torn = 0
        self.rejections = 0
        self.latecomers: list[Event] = []
        self.lineage: tuple[int, float] = (200, 0.0)
        self.seen: Counter[tuple[str, str, int]] = Counter()
        self.token: str | None = None
        self.pages: list[int] = []
        self._random = random.Random(seed)  # noqa: S311 - of the order of ties
        self._lock = threading.RLock()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return its URL, also while it is stopped."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> "FakeMarquez":
        """Listen: on any port at first, and on the same one afterwards."""
        server = _Server(("127.0.0.1", self._port), Handler)
        server.marquez = self
        self._port = server.server_address[1]
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop as a kill does: requests in flight get no answer."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def store(self, events: Iterable[Event]) -> None:
        """Store events of other producers."""
        with self._lock:
            self.rows += [raw(event) for event in events]

    def run_ids(self) -> Counter[str]:
        """Return the number of raw rows of each run."""
        with self._lock:
            return Counter(row.event["run"]["runId"] for row in self.rows if row.kind == "run")

    def stored_events(self) -> list[Event]:
        """Return every raw row's event, in the order of arrival."""
        with self._lock:
            return [row.event for row in self.rows]

    def post(self, body: bytes) -> Answer | None:
        """Answer POST /api/v1/lineage; None closes the connection without an answer."""
        with self._lock:
            if self.rejections:
                self.rejections -= 1
                return Answer(503, b"")
            rejection, event = validate(body)
            if rejection is not None:
                return rejection
            return self._store(event, body)

    def _store(self, event: Event, body: bytes) -> Answer | None:
        if self.is_store_down or self.is_poison(event):
            return Answer(500, b"<html>500</html>", "text/html")
        self.rows.append(raw(event))
        if raw(event).kind == "run" and event.get("eventType") is None:
            return Answer(500, b"<html>500</html>", "text/html")
        if self.torn:
            self.torn -= 1
            return Answer(500, b"")
        if self.lost_answers:
            self.lost_answers -= 1
            return None
        self.acked.append(body)
        return Answer(201, b"")

    def events(self, query: str) -> Answer:
        """Answer GET /api/v1/events/lineage: sorted by the producer's time, ties in any order."""
        given = {name: values[0] for name, values in parse_qs(query).items()}
        try:
            limit, offset = int(given.get("limit", "100")), int(given.get("offset", "0"))
        except ValueError:
            return Answer(404, b'{"code":404,"message":"HTTP 404 Not Found"}')
        try:
            after = parse_time(given.get("after", _DEFAULT_AFTER))
            before = parse_time(given.get("before", _DEFAULT_BEFORE))
        except ValueError:
            return Answer(400, b'{"code":400,"message":"bad date"}')
        with self._lock:
            within = [row for row in self.rows if after <= row.event_time < before]
            runs = [row for row in within if row.kind == "run"]
            self._random.shuffle(runs)
            runs.sort(key=lambda row: row.event_time, reverse=given.get("sortDirection") != "asc")
            page = [self._reserialise(row.event) for row in runs[offset : offset + limit]]
            self.pages.append(len(page))
            if self.latecomers:
                self.store([self.latecomers.pop(0)])
        return Answer(200, json.dumps({"events": page, "totalCount": len(within)}).encode())

    def _reserialise(self, event: Event) -> Event:
        job = event["job"]
        facets = (job.get("facets") or {}) | dict.fromkeys(_ADDED_FACETS)
        changed = list((event | {"job": job | {"facets": facets}}).items())
        self._random.shuffle(changed)
        return dict(changed)

    def graph(self, query: str) -> Answer:
        """Answer GET /api/v1/lineage of a dataset that an event named."""
        status, _ = self.lineage
        if status != 200:
            return Answer(status, b'{"code":500}')
        wanted = parse_qs(query).get("nodeId", [""])[0]
        with self._lock:
            known = any(wanted in node_ids(row.event) for row in self.rows)
        if not known:
            return Answer(404, b'{"code":404}')
        return Answer(200, json.dumps({"graph": [{"id": wanted}]}).encode())

    def run(self, run_id: str) -> Answer:
        """Answer GET /api/v1/jobs/runs/ID; an invalid UUID is 400 (assumed, not measured)."""
        if not _is_uuid(run_id):
            return Answer(400, b'{"code":400}')
        if run_id in self.run_ids():
            return Answer(200, json.dumps({"id": run_id}).encode())
        return Answer(404, b'{"code":404}')


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


class _Server(ThreadingHTTPServer):
    marquez: FakeMarquez
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - of the standard library
        self._open: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as above
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Cut the connections too: a killed process leaves none open."""
        super().server_close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, _request: Any, _client_address: Any) -> None:  # noqa: ANN401 - as above
        """Print nothing: tests are about clients that disconnect."""


def run_event(number: int, *, at: datetime, kind: str = "COMPLETE", **more: Any) -> Event:  # noqa: ANN401 - JSON
    """Return a RunEvent of run `number` as a producer sends it; `more` replaces fields."""
    event: Event = {
        "eventType": kind,
        "eventTime": at.isoformat().replace("+00:00", "Z"),
        "producer": "https://example.org/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"0195f1c2-7f8e-7000-8000-{number:012}"},
        "job": {"namespace": "jobs", "name": "etl", "facets": {}},
        "inputs": [{"namespace": "s3://shop", "name": "raw/orders"}],
        "outputs": [{"namespace": "s3://shop", "name": "core/orders"}],
    }
    return event | more


def minutes(count: float) -> timedelta:
    """Return a duration for event times."""
    return timedelta(minutes=count)
