"""Grafana's HTTP API, and dashboards into it: the same ones again change nothing."""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

import httpx
import msgspec

from service.errors import GrafanaFailedError, RejectedInputError

_SECONDS: Final = 30.0
_WHY: Final = {
    401: "rejects the token: create one for a service account, and pass its file",
    403: "does not permit this: the service account needs the role Editor, or these permissions",
    404: "has no such path: --grafana-url is not the address of Grafana, or lacks its sub-path",
    412: "rejects the change, because another object has this name: rename or delete it",
}
# Answers about a missing object: some Grafanas answer an Editor 403, others 404.
_NOT_SEEN: Final = (httpx.codes.FORBIDDEN, httpx.codes.NOT_FOUND)
_THERE: Final = (httpx.codes.CONFLICT, httpx.codes.PRECONDITION_FAILED)

_NOT_OURS: Final = ("id", "version")  # Grafana's own numbers of a dashboard
_MESSAGE: Final = "lineward dashboards push"

_What = Literal["created", "updated", "unchanged"]


class Grafana:
    """Client of one Grafana, with one service account."""

    def __init__(self, url: str, token: str) -> None:
        """Keep the address. A redirect is not followed: the token would go with it."""
        self._url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._client = httpx.Client(headers=headers, timeout=_SECONDS, trust_env=False)

    def source_types(self) -> set[str] | None:
        """Return the types of the data sources; None where the token may not list them."""
        answer = self._asked("GET", "/api/datasources", also=(httpx.codes.FORBIDDEN,))
        return {str(one["type"]) for one in answer.json()} if answer.is_success else None

    def find(self, path: str) -> dict[str, Any] | None:
        """Return the object at this path, or None if the token may not see one."""
        answer = self._asked("GET", path, also=_NOT_SEEN)
        return dict(answer.json()) if answer.is_success else None

    def make(self, path: str, body: dict[str, Any]) -> None:
        """Make it, unless it is there."""
        self._asked("POST", path, body, also=_THERE)

    def save(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send an object to save, and return the answer."""
        return dict(self._asked("POST", path, body).json())

    def _asked(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        also: Sequence[int] = (),
    ) -> httpx.Response:
        """Return the answer.

        Args:
            method: of HTTP.
            path: below Grafana's address.
            body: sent as JSON.
            also: status codes that are answers too.

        Raises:
            RejectedInputError: Grafana rejects the request; the text has the reason and what to do.
            GrafanaFailedError: it did not answer, or not as a Grafana does.
        """
        try:
            answer = self._client.request(method, f"{self._url}{path}", json=body)
        except httpx.TransportError as error:
            message = f"{self._url} does not answer: {error or type(error).__name__}"
            raise GrafanaFailedError(message) from error
        if answer.status_code in also:
            return answer
        if not answer.is_success:
            raise self._rejection(method, path, answer)
        if "json" not in answer.headers.get("content-type", ""):
            message = f"{self._url}{path} does not answer like Grafana: no JSON"
            raise GrafanaFailedError(message)
        return answer

    def _rejection(self, method: str, path: str, answer: httpx.Response) -> Exception:
        status, text = answer.status_code, _message(answer)
        if answer.is_redirect:
            where = answer.headers.get("location", "")[:80]
            return RejectedInputError(
                f"{self._url} redirects to {where!r}: use this as --grafana-url"
            )
        asked = f"{method} {path}: {status}{text}"
        if status in _WHY:
            return RejectedInputError(f"{self._url} {_WHY[status]} ({asked})")
        if answer.is_client_error:
            return RejectedInputError(f"{self._url} rejects the request ({asked})")
        return GrafanaFailedError(f"{self._url} failed ({asked})")


def _message(answer: httpx.Response) -> str:
    """Return Grafana's message, cut."""
    try:
        found = answer.json()
    except ValueError:
        return ""
    response = found.get("message", "") if isinstance(found, dict) else ""
    return f" {str(response)[:200]}" if response else ""


class Pushed(msgspec.Struct, frozen=True):
    """Result of one dashboard."""

    uid: str
    outcome: _What
    url: str


def require_sources(grafana: Grafana, needed: dict[str, str]) -> bool:
    """See that there is a data source of each type; whether that could be seen.

    Args:
        grafana: which is asked.
        needed: by type, what has to be done where there is none.

    Raises:
        RejectedInputError: one is missing: panels would be empty, and look well.
    """
    there = grafana.source_types()
    if there is None:
        return False
    missing = [f"{kind}: {advice}" for kind, advice in needed.items() if kind not in there]
    if missing:
        message = f"Grafana lacks a data source of the type {'; '.join(missing)}"
        raise RejectedInputError(message)
    return True


def require_folder(grafana: Grafana, uid: str, title: str) -> None:
    """See that the folder is there; it keeps the title that people gave it."""
    if grafana.find(f"/api/folders/{uid}") is None:
        grafana.make("/api/folders", {"uid": uid, "title": title})


def push(grafana: Grafana, folder: str, text: str) -> Pushed:
    """Save one dashboard in the folder, over what was changed by hand."""
    wanted: dict[str, Any] = json.loads(text)
    uid = str(wanted["uid"])
    there = grafana.find(f"/api/dashboards/uid/{uid}")
    if there is not None and _is_same(there, wanted, folder):
        return Pushed(uid, "unchanged", f"/d/{uid}")
    asked = {"dashboard": {**wanted, "id": None}, "folderUid": folder, "overwrite": True}
    saved = grafana.save("/api/dashboards/db", {**asked, "message": _MESSAGE})
    # What could not be seen may have been there.
    outcome: _What = "created" if saved.get("version") == 1 else "updated"
    return Pushed(uid, outcome, str(saved.get("url", f"/d/{uid}")))


def _is_same(there: dict[str, Any], wanted: dict[str, Any], folder: str) -> bool:
    kept = dict(there["dashboard"])
    for name in _NOT_OURS:
        kept.pop(name, None)
    return kept == wanted and there.get("meta", {}).get("folderUid") == folder
