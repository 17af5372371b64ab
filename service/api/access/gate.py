"""Gate before every handler: the caller is known, permitted, and recorded in the audit log.

Bound to the handler that Litestar found, never to the text of a path: a spelling that leads to a
handler leads through its gate. A handler that says nothing of itself needs the highest role.
"""

import asyncio
import re
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lineage.catalog.policy_notes import ACCESS_OFF
from service.api.access.access_policy import CATALOG_UNREAD, AccessInForce, EffectiveAccess
from service.api.access.audit_log import AccessRecord, Recorder, UnauditedError
from service.api.access.budget import RejectionCounts, RequestBudget
from service.api.access.decision import OTHER, AccessDecision, bearers, decide, rejection_advice
from service.api.access.versions import AccessVersion
from service.api.problems import Problem, is_page, shown_as
from service.queries.visibility import Visibility

OPEN = "open"
VISIBILITY = "visibility"
WHO = "who"
REQUEST_ID = "request_id"
REJECTED_FOR = "rejected_for"
ANYBODY = "anybody"
_SUBJECTS = (
    *(
        "dataset_namespace",
        "dataset",
        "column",
        "run_id",
        "state",
        "tier",
        "owner",
        "contains",
        "find",
    ),
    *("incident_id", "action", "number", "nodeId", "at", "first", "second", "job_namespace", "job"),
    *("namespace", "source", "version", "q"),
)
_MOST_SUBJECT = 300
_MOST_QUERY = 4_096
_LARGE_BYTES = 65_536
_NAMESPACE = re.compile(rb'"dataset_namespace":("(?:[^"\\]|\\.)*")')
# In a page every dataset that is named is a link; no text of a page has a bare quotation mark.
_LINKED = re.compile(rb'href="/dataset\?dataset_namespace=([^&"]*)')
_UNKNOWN, _FORBIDDEN = 401, 403
TOO_MANY = Problem("Too many requests", 429, "too many rejected requests: try again in 10 s")


class Gate:
    """ASGI middleware, inside the one that counts what was served."""

    def __init__(
        self,
        app: ASGIApp,
        force: AccessInForce,
        recorder: Recorder,
        budget: RequestBudget,
        grouped: RejectionCounts,
    ) -> None:
        self._app = app
        self._force = force
        self._recorder = recorder
        self._budget = budget
        self._grouped = grouped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject, or answer once the audit row is durable."""
        action = str(scope["route_handler"].opt.get("access", OTHER))
        if action == OPEN:
            await self._app(scope, receive, send)
            return
        standing = self._force.current()
        if standing.version is None:
            await _reject(scope, send, _without_policy(standing))
        elif standing.version.hash == ACCESS_OFF:
            await self._app(scope, receive, send)
        else:
            decision = _decided(scope, action, standing.version, standing.at)
            if await self._reject_grouped(scope, send, decision):
                return
            row = _row(scope, action, standing, decision)
            await self._pass(scope, receive, _Held(self._recorder, row, scope, send), decision)

    async def _reject_grouped(self, scope: Scope, send: Send, decision: AccessDecision) -> bool:
        """Reject without a row who was rejected too often; return whether that happened.

        A row for each would keep the catalog's write lock.
        """
        if decision.allowed or decision.status != _UNKNOWN:
            return False
        verdict = self._budget.spend(address_of(scope))
        if verdict == "own_row":
            return False
        self._grouped.add(decision.reason)
        unknown = Problem("Unauthorized", _UNKNOWN, rejection_advice(decision.reason))
        await _reject(scope, send, TOO_MANY if verdict == "too_many" else unknown)
        return True

    async def _pass(
        self, scope: Scope, receive: Receive, held: "_Held", decision: AccessDecision
    ) -> None:
        if decision.allowed:
            scope["state"][VISIBILITY] = decision.visibility
            scope["state"][WHO] = decision.who
            await self._app(scope, receive, held.send)
        else:
            title = "Unauthorized" if decision.status != _FORBIDDEN else "Forbidden"
            problem = Problem(title, decision.status, rejection_advice(decision.reason))
            await _reject(scope, held.send, problem)


class _Held:
    """Response that waits for its audit row."""

    def __init__(self, recorder: Recorder, row: AccessRecord, scope: Scope, send: Send) -> None:
        self._recorder = recorder
        self._row = row
        self._scope = scope
        self._send = send
        self._start: Any = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Hold the answer until it is whole and its row durable."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._release()

    async def _release(self) -> None:
        try:
            await self._recorder.record(await self._completed())
        except UnauditedError as error:
            detail = f"requests are rejected while they cannot be audited: {error}"
            await _reject(self._scope, self._send, Problem("Not audited", 503, detail))
            return
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})

    async def _completed(self) -> AccessRecord:
        status = self._start["status"]
        row = msgspec.structs.replace(self._row, status=status)
        if status == _FORBIDDEN and row.decision == "allow":
            reason = self._scope["state"].get(REJECTED_FOR, "namespace")
            return msgspec.structs.replace(row, decision="deny", reason=reason)
        if len(self._body) > _LARGE_BYTES:
            named = await asyncio.to_thread(namespaces_in, self._body)
        else:
            named = namespaces_in(self._body)
        return msgspec.structs.replace(row, namespaces=msgspec.json.encode(named).decode())


def namespaces_in(body: bytes) -> list[str]:
    """Return the dataset namespaces that appear in a response body."""
    found = {match[1] for match in _NAMESPACE.finditer(body)}
    linked = {match[1] for match in _LINKED.finditer(body)}
    fields = {msgspec.json.decode(text, type=str) for text in found}
    return sorted(fields | {unquote(text.decode()) for text in linked})


def address_of(scope: Scope) -> str:
    """Return the address at the other end: a client, or the proxy before the service."""
    client = scope.get("client")
    return client[0] if client else ""


def _without_policy(standing: EffectiveAccess) -> Problem:
    """Return what to answer while no version is in force; the error of a file stays in the log."""
    if standing.error == CATALOG_UNREAD:
        return Problem("Catalog not read", 503, CATALOG_UNREAD)
    detail = (
        "the policy file is invalid. Requests are rejected until the file is valid: see the log"
    )
    return Problem("Policy rejected", 503, detail)


def visibility_of(scope: Scope) -> Visibility | None:
    """Return the visibility of the caller, or None if access control is off."""
    return scope["state"].get(VISIBILITY)


def who_of(scope: Scope) -> str | None:
    """Return the name of the token, or None if access control is off."""
    found = scope["state"].get(WHO)
    return None if found is None else str(found)


def who_asks(scope: Scope) -> str:
    """Return the name of the token, or `anybody` if access control is off."""
    return who_of(scope) or ANYBODY


def _decided(scope: Scope, action: str, version: AccessVersion, at: int) -> AccessDecision:
    shown = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if not shown and is_page(scope):
        shown = bearers(scope["headers"])
    is_cut = bool(scope["route_handler"].opt.get("is_cut", False))
    return decide(version, shown, action, at, is_cut=is_cut)


def _row(
    scope: Scope, action: str, standing: EffectiveAccess, decision: AccessDecision
) -> AccessRecord:
    return AccessRecord(
        at=standing.at,
        request_id=str(scope["state"].get(REQUEST_ID, "")),
        who=decision.who,
        fingerprint=decision.fingerprint,
        action=action,
        subject=_subject(scope),
        namespaces="[]",
        decision="allow" if decision.allowed else "deny",
        reason=decision.reason,
        status=0,
        version="" if standing.version is None else standing.version.hash,
    )


def _subject(scope: Scope) -> str:
    """Return the known parameters of a request; a token in the wrong place stays out."""
    query = scope["query_string"][:_MOST_QUERY].decode("latin-1")
    asked = [*scope["path_params"].items(), *parse_qsl(query)]
    named = " ".join(f"{name}={value}" for name, value in asked if name in _SUBJECTS)
    # What a catalog's text cannot hold would keep the rows of all who wait from being written.
    sound = named.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return sound[:_MOST_SUBJECT]


async def _reject(scope: Scope, send: Send, problem: Problem) -> None:
    body, answer = shown_as(scope, problem)
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.items()]
    if problem.status == _UNKNOWN:
        headers.append((b"www-authenticate", b"Bearer"))
    if problem.status == TOO_MANY.status:
        headers.append((b"retry-after", b"10"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
