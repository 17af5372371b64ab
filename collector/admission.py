"""Admission of a request by its headers: whether it is served, and whether Lineward sent it."""

import hmac

import msgspec

from collector import metrics
from collector.errors import (
    EncodingError,
    ForeignRequestError,
    MalformedRequestError,
    RejectedRequestError,
    UnauthorizedError,
)
from collector.rsgi import Scope
from collector.sender_secret import HEADER as SECRET_HEADER
from lineage import origins
from lineage.process.http_hosts import OwnHosts, find_cross_site, find_foreign_host

TOO_LARGE = "lineward-too-large"  # its size and where it stands, from ship, kafka and backfill
_ORIGIN = "lineward-origin"
_REQUEUED = "lineward-requeued"  # number of a rejected body that is posted again
_GIVEN = (
    *(origins.HISTORY, origins.MARQUEZ, origins.MARQUEZ_HISTORY),
    *(origins.FILE, origins.KAFKA),
)
_OF_OWN_SENDERS = (_ORIGIN, _REQUEUED, TOO_LARGE, SECRET_HEADER)
_WRONG_SECRET = (
    f"{SECRET_HEADER}: not the secret of this collector. Set LINEWARD_SENDER_SECRET_FILE to a copy"
    " of reader.secret in the collector's data folder, or LINEWARD_COLLECTOR_TOKEN_FILE on both"
    " sides"
)
_MOST_DIGITS = 18
_SHOWN_CHARACTERS = 500


class SenderHeaders(msgspec.Struct, frozen=True):
    """Statements of the sender about a body.

    Attributes:
        origin: of `lineage.origins`.
        requeued: number under which the body was kept as rejected.
        too_large: size and place of an event of which the body is the head.
        is_own_sender: whether one of Lineward's own senders sends it.
    """

    origin: str = origins.HTTP
    requeued: int | None = None
    too_large: str | None = None
    is_own_sender: bool = False


_NOTHING = SenderHeaders()


class Admission(msgspec.Struct):
    """Checks that this collector makes on every request.

    Attributes:
        token: senders must show it; None: anybody may send.
        secret: of Lineward's own senders; None: not known yet.
    """

    hosts: OwnHosts
    token: bytes | None = None
    secret: bytes | None = None

    def check_address(self, scope: Scope) -> None:
        """Reject a request for another host, or of a browser for another site.

        Framing is hyper's: it rejects what could be read in two ways, but for Content-Length beside
        Transfer-Encoding; of these it hides the former, and closes the connection after the answer.

        Raises:
            MalformedRequestError: no Host, several (RFC 9112, 3.2), or not one of ours.
            ForeignRequestError: a browser sends it for another site.
        """
        hosts = scope.headers.get_all("host")
        if len(hosts) > 1 or not (hosts or scope.authority):
            detail = f"{len(hosts)} Host headers: one is required"
            raise MalformedRequestError(detail)
        for host in (scope.authority, *hosts):
            problem = host and find_foreign_host(host, self.hosts)
            if problem:
                raise MalformedRequestError(problem, reason="foreign_host")
        problem = find_cross_site(scope.method, scope.headers.get, self.hosts)
        if problem is not None:
            raise ForeignRequestError(problem)

    def check_sender(self, scope: Scope) -> SenderHeaders:
        """Let the bearer of the token pass; return what may be believed of its headers.

        Raises:
            UnauthorizedError: no token where one is set, or a wrong one; a wrong secret with events
                that must not count as sent now.
            EncodingError: an encoding that is not gzip.
            RejectedRequestError: a header of one of our senders that cannot be understood.
        """
        check_token(scope, self.token)
        check_encoding(scope)
        if not any(name in scope.headers for name in _OF_OWN_SENDERS):
            return _NOTHING
        if self._is_own_sender(scope):
            return _sender_headers(scope)
        if SECRET_HEADER in scope.headers and _must_be_believed(_sender_headers(scope)):
            raise UnauthorizedError(_WRONG_SECRET, reason="reader_secret")
        _count_ignored(scope)
        return _NOTHING

    def _is_own_sender(self, scope: Scope) -> bool:
        if self.token is not None:
            return True  # it was checked: a sender that has the token may mark what it sends
        given = (scope.headers.get(SECRET_HEADER) or "").encode()
        return self.secret is not None and hmac.compare_digest(given, self.secret)


def _sender_headers(scope: Scope) -> SenderHeaders:
    return SenderHeaders(
        _origin(scope), _requeued(scope), scope.headers.get(TOO_LARGE), is_own_sender=True
    )


def _must_be_believed(sender: SenderHeaders) -> bool:
    """Return whether the events would be counted wrongly without their marks.

    What was shipped or read from Kafka counts as what is sent over HTTP does.
    """
    counts_as_http = (origins.HTTP, origins.FILE, origins.KAFKA)
    return sender.requeued is not None or sender.origin not in counts_as_http


def check_token(scope: Scope, token: bytes | None) -> None:
    """Let the bearer of the token pass; anyone, where none is configured.

    Raises:
        UnauthorizedError: no token, or another one.
    """
    if token is None:
        return
    given = (scope.headers.get("authorization") or "").encode()
    if not hmac.compare_digest(given, b"Bearer " + token):
        detail = (
            "expected Authorization: Bearer with the collector's token; for Lineward's own senders,"
            " set LINEWARD_COLLECTOR_TOKEN_FILE to its file"
        )
        raise UnauthorizedError(detail)


def check_encoding(scope: Scope) -> None:
    """Reject what is neither plain nor one gzip.

    Raises:
        EncodingError: another encoding, or several.
    """
    if content_encoding(scope) not in {"identity", "gzip"}:
        detail = f"Content-Encoding {content_encoding(scope)[:80]!r}: send plain JSON or one gzip"
        raise EncodingError(detail)


def content_encoding(scope: Scope) -> str:
    """Return the body's Content-Encoding."""
    return (scope.headers.get("content-encoding") or "identity").strip().lower()


def cut_report(too_large: str) -> str:
    """Return what an own sender reports about an event that it could not send whole, cut."""
    return too_large[:_SHOWN_CHARACTERS]


def _count_ignored(scope: Scope) -> None:
    for name in (_ORIGIN, _REQUEUED, TOO_LARGE):
        given = scope.headers.get(name)
        if name in scope.headers and given != origins.HTTP:
            metrics.IGNORED_HEADERS.labels(name).inc()


def _origin(scope: Scope) -> str:
    given = scope.headers.get(_ORIGIN)
    if _ORIGIN not in scope.headers or given == origins.HTTP:
        return origins.HTTP
    if given not in _GIVEN:
        known = ", ".join(_GIVEN)
        detail = f"Lineward-Origin {str(given)[:80]!r}: expected {known}, or no such header"
        raise RejectedRequestError(detail, reason="origin")
    return given


def _requeued(scope: Scope) -> int | None:
    given = scope.headers.get(_REQUEUED)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
        detail = f"Lineward-Requeued {given[:80]!r}: expected the number of a rejected body"
        raise RejectedRequestError(detail, reason="origin")
    return int(given)
