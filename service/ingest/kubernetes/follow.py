"""Follower of the objects of one kind in one namespace: it lists them, then watches changes.

The API server promises no change twice or never, only that a watch from the version of a list
misses none (Kubernetes API Concepts, "Efficient detection of changes"). A page of a list is stored
before the next one is asked for, so that memory does not grow with the objects.
"""

import time
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Final, Protocol

import msgspec
import structlog
from kubernetes.client.exceptions import ApiException
from kubernetes.watch import Watch
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential
from tenacity.nap import sleep_using_event
from tenacity.stop import stop_when_event_set
from urllib3.exceptions import HTTPError

from lineage.process.clock import Clock, system_clock, to_micros
from service.ingest.kubernetes.connection import Listing, Resource, describe_error, read_page
from service.ingest.kubernetes.manifests import Manifest

GONE: Final = 410
_DELETED, _BOOKMARK = "DELETED", "BOOKMARK"
_LONGEST_PAUSE_SECONDS: Final = 60.0
_log = structlog.get_logger()


class Sink(Protocol):
    """Destination of objects; times are µs."""

    def begin_list(self, at: int) -> int:
        """Return the time of a list that begins: later than all that was stored before."""

    def store(self, objects: Sequence[Manifest], at: int) -> None:
        """Store objects as they are at this time."""

    def delete(self, objects: Sequence[Manifest], at: int) -> None:
        """Store that objects were deleted."""

    def end_list(self, began_at: int) -> None:
        """End the list that began then: what it did not have was deleted."""

    def note_works(self, at: int) -> None:
        """Note that the watch works, and that every change up to this time is stored."""

    def note_problem(self, problem: str, at: int) -> None:
        """Note why the watch does not work."""


class Options(msgspec.Struct, frozen=True):
    """Size and duration of one request."""

    page_objects: int
    watch_seconds: int
    timeout_seconds: float
    shortest_watch_seconds: float = 1.0  # one that ends sooner is followed by a pause


class Follower:
    """List and watch of one resource. One process of several calls `run`."""

    def __init__(
        self,
        resource: Resource,
        listing: Listing,
        sink: Sink,
        options: Options,
        clock: Clock = system_clock,
    ) -> None:
        self.resource, self._listing, self._sink = resource, listing, sink
        self._options, self._clock = options, clock
        self._version: str | None = None

    def run(self, stopping: Event) -> None:
        """Follow until `stopping` is set; report what fails, and repeat it after a pause."""
        retrying = Retrying(
            # The edge of a thread: whatever fails, in the cluster or the catalog, is tried again.
            retry=retry_if_exception_type(Exception),
            wait=wait_random_exponential(multiplier=0.5, max=_LONGEST_PAUSE_SECONDS),
            stop=stop_when_event_set(stopping),
            sleep=sleep_using_event(stopping),
            before_sleep=self._report,
            retry_error_callback=lambda _: None,
        )
        while not stopping.is_set():
            retrying(self.step, stopping)

    def step(self, stopping: Event) -> None:
        """List if there is no version to go on from, then watch until the watch ends.

        Raises:
            ApiException: the API server rejected the request.
            HTTPError: it does not answer, or the connection broke.
        """
        is_listed = self._version is None
        if is_listed:
            self._version = self._list(stopping)
        if self._version is None:
            return
        before, began = self._version, time.monotonic()
        try:
            self._watch(before, stopping)
            # A server or proxy that ends each watch at once is not asked without end.
            stopping.wait(max(0.0, began + self._options.shortest_watch_seconds - time.monotonic()))
        except ApiException as error:
            self._expire(error, is_repeated=is_listed and self._version == before)
        except HTTPError:
            if self._version == before:
                raise
            # It broke after something came: the next watch goes on from there at once.
            _log.info("kubernetes_watch_broke", resource=str(self.resource))

    def _list(self, stopping: Event) -> str | None:
        """Store all objects, page by page; return the version that the list is of."""
        began = self._sink.begin_list(self._now())
        version = None
        for page in self._pages():
            if stopping.is_set():
                return None
            version = page["metadata"]["resourceVersion"]
            self._sink.store(page.get("items") or (), max(began, self._now()))
        self._sink.end_list(began)
        self._sink.note_works(began)  # the first watch may last a minute
        return version

    def _pages(self) -> Iterator[Manifest]:
        token: str | None = None
        while True:
            page = read_page(
                self._listing(
                    limit=self._options.page_objects,
                    _continue=token,
                    _preload_content=False,
                    _request_timeout=self._options.timeout_seconds,
                )
            )
            yield page
            token = page["metadata"].get("continue")
            if not token:
                return

    def _watch(self, version: str, stopping: Event) -> None:
        options = self._options
        events = Watch(return_type="object").stream(
            self._listing,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=options.watch_seconds,
            _request_timeout=(options.timeout_seconds, options.watch_seconds + 30),
        )
        for event in events:
            if stopping.is_set():
                return
            if event is None:  # the client's answer to a line that is no JSON
                raise HTTPError("a line of the watch is cut")
            self._take(event["type"], event["raw_object"])
        if not stopping.is_set():
            self._sink.note_works(self._now())

    def _take(self, kind: str, changed: Manifest) -> None:
        at = self._now()
        if kind == _DELETED:
            self._sink.delete([changed], at)
        elif kind != _BOOKMARK:
            self._sink.store([changed], at)
        self._version = changed["metadata"]["resourceVersion"]
        self._sink.note_works(at)

    def _expire(self, error: ApiException, *, is_repeated: bool) -> None:
        """Have the next step list, where the version is too old for a watch.

        The client raises the same error for an event of type ERROR and for the status 410.
        """
        if error.status != GONE:
            raise error
        self._version = None
        _log.info("kubernetes_watch_expired", resource=str(self.resource), next="list again")
        if is_repeated:  # of a list that was just made: not at once again
            raise error

    def _report(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        problem = describe_error(self.resource, error)
        _log.warning("kubernetes_watch_fails", error=problem, next="retries without end")
        self._sink.note_problem(problem, self._now())

    def _now(self) -> int:
        return to_micros(self._clock())
