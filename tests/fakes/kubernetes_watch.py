"""Lists in pages and watches of a fake API server, by Kubernetes' "API Concepts".

A list with a limit gives a token for the next page, which is of the same snapshot and expires. A
watch gives what changed after a version, and bookmarks; a version before the kept history is gone:
by an event of type ERROR in a watch that began, or by the status 410.
"""

import copy
import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import parse_qs

import trustme

from tests.fakes.http_server import Answer, Request
from tests.fakes.kubernetes import FakeKubernetes, application, status_answer

Fault = Literal["cut", "cut_in_a_line", "status_410", "expired_page"]
_PATHS = re.compile(
    r"/(?:apis/(?P<group>[^/]+)/v1beta2|api/v1)/namespaces/(?P<namespace>[^/]+)/"
    r"(?P<plural>sparkapplications|pods)"
)
_Key = tuple[str, str, str]


def spark_pod(name: str, **status: object) -> dict[str, Any]:
    """Return an executor's pod of the application `spark-1`."""
    labels = {"spark-role": "executor", "spark-app-selector": "spark-1"}
    metadata = {"name": name, "namespace": "jobs", "uid": f"uid-{name}", "labels": labels}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "status": status}


def submitted(name: str, state: str = "RUNNING", **more: object) -> dict[str, Any]:
    """Return an application with a uid of its own, as the operator has submitted it."""
    made = application(name, state, uid=f"uid-{name}", **more)
    made["status"] |= {
        "lastSubmissionAttemptTime": "2026-11-21T02:00:05Z",
        "sparkApplicationId": f"spark-{name}",
        "driverInfo": {"podName": f"{name}-driver"},
    }
    return made


class WatchedKubernetes(FakeKubernetes):
    """API server with objects that change, and watches that end by themselves soon.

    Attributes:
        forbidden: (verb, plural) that the token's role lacks.
        faults: of the next requests, in turn; None is no fault.
        compacted: changes up to this version are not kept.
        bookmarks: whether a watch that ends sends its version.
    """

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(authority)
        self.version = 100
        self.objects: dict[_Key, dict[str, Any]] = {}
        self.changes: list[tuple[int, str, _Key, dict[str, Any]]] = []
        self.forbidden: set[tuple[str, str]] = set()
        self.faults: deque[Fault | None] = deque()
        self.compacted = 0
        self.bookmarks = True

    def put(self, *objects: dict[str, Any]) -> None:
        """Create objects, or change those of the same name."""
        for each in objects:
            key = _key(each)
            kind = "MODIFIED" if key in self.objects else "ADDED"
            self._change(kind, key, each)
            self.objects[key] = self.changes[-1][3]

    def delete(self, given: dict[str, Any]) -> None:
        """Delete an object."""
        self._change("DELETED", _key(given), self.objects.pop(_key(given)))

    def asked(self, word: str) -> int:
        """Return how many requests had this word in their query."""
        return sum(word in request.query for request in self.requests)

    def lists(self) -> int:
        """Return how many lists began."""
        return sum("watch=" not in r.query and "continue=" not in r.query for r in self.requests)

    def _change(self, kind: str, key: _Key, given: dict[str, Any]) -> None:
        self.version += 1
        changed = copy.deepcopy(given)
        changed["metadata"]["resourceVersion"] = str(self.version)
        self.changes.append((self.version, kind, key, changed))

    def answer(self, request: Request) -> Answer | None:
        """Answer a list or a watch; all other requests as the API server of actions."""
        found = _PATHS.fullmatch(request.path)
        if found is None or request.body:
            return super().answer(request)
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return status_answer(401, "Unauthorized", "Unauthorized")
        asked = {name: values[0] for name, values in parse_qs(request.query).items()}
        verb = "watch" if asked.get("watch") == "True" else "list"
        if (verb, found["plural"]) in self.forbidden:
            return status_answer(403, "Forbidden", _forbidden(verb, **found.groupdict()))
        fault = self.faults.popleft() if self.faults else None
        if fault == "status_410" or (fault == "expired_page" and "continue" in asked):
            return status_answer(410, "Expired", "The resourceVersion is too old")
        place = (found["plural"], found["namespace"])
        if verb == "watch":
            return Answer(200, self._watch(place, asked, fault))
        return Answer(200, self._page(place, asked))

    def _page(self, place: tuple[str, str], asked: dict[str, str]) -> dict[str, Any]:
        given = asked.get("continue") or f"{self.version}:0"
        version, first = (int(part) for part in given.split(":"))
        names = sorted(key for key in self.objects if key[:2] == place)
        last = first + int(asked.get("limit", len(names)))
        more = {"continue": f"{version}:{last}"} if last < len(names) else {}
        items = [self.objects[key] for key in names[first:last]]
        return {"metadata": {"resourceVersion": str(version), **more}, "items": items}

    def _watch(
        self, place: tuple[str, str], asked: dict[str, str], fault: Fault | None
    ) -> Iterator[bytes]:
        after = int(asked["resourceVersion"])
        if after < self.compacted:
            yield _line("ERROR", {"kind": "Status", "code": 410, **_EXPIRED})
            return
        for version, kind, key, changed in list(self.changes):
            if version > after and key[:2] == place:
                line = _line(kind, changed)
                if fault == "cut_in_a_line":
                    yield line[: len(line) // 2]
                    yield b""
                yield line
        if fault == "cut":
            yield b""
        if self.bookmarks and asked.get("allowWatchBookmarks") == "True":
            yield _line("BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})


_EXPIRED = {"reason": "Expired", "message": "too old resource version"}


def _line(kind: str, given: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": given}).encode() + b"\n"


def _key(given: dict[str, Any]) -> _Key:
    plural = "pods" if given["kind"] == "Pod" else "sparkapplications"
    return plural, given["metadata"]["namespace"], given["metadata"]["name"]


def _forbidden(verb: str, group: str | None, namespace: str, plural: str) -> str:
    resource = f"{plural}.{group}" if group else plural
    return (
        f'{resource} is forbidden: User "system:serviceaccount:data:lineward" cannot {verb}'
        f' resource "{plural}" in API group "{group or ""}" in the namespace "{namespace}"'
    )
