"""Errors of requests, each with its status."""


class RejectedRequestError(Exception):
    """Request that is rejected.

    Attributes:
        reason: one of a fixed set of words, for the counter's label.
        detail: one sentence for the sender: what, where, the value, what to do.
        path: JSON path of the error, if any.
    """

    status = 400
    reason = "invalid"
    headers: tuple[tuple[str, str], ...] = ()

    def __init__(self, detail: str, *, path: str | None = None, reason: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path
        if reason is not None:
            self.reason = reason


class InvalidEventError(RejectedRequestError):
    """Body that is no OpenLineage event."""

    reason = "invalid_event"


class MalformedRequestError(RejectedRequestError):
    """Ambiguous HTTP; the connection is closed."""

    reason = "malformed_request"
    headers = (("connection", "close"),)


class UnauthorizedError(RejectedRequestError):
    """Missing or wrong token."""

    status = 401
    reason = "unauthorized"
    headers = (("www-authenticate", "Bearer"),)


class ForeignRequestError(RejectedRequestError):
    """Request that another site made a browser send."""

    status = 403
    reason = "cross_site"


class NotFoundError(RejectedRequestError):
    """Unknown path."""

    status = 404
    reason = "not_found"


class WrongMethodError(RejectedRequestError):
    """Method that the path does not support."""

    status = 405
    reason = "wrong_method"


class BodyTimeoutError(RejectedRequestError):
    """Body that did not arrive within the deadline."""

    status = 408
    reason = "too_slow"
    headers = (("connection", "close"),)


class TooLargeError(RejectedRequestError):
    """Body over a limit in bytes, compressed or decompressed.

    Attributes:
        head: first bytes of the body that were read.
        body_bytes: known size of the body.
    """

    status = 413
    reason = "too_large"
    headers = (("connection", "close"),)
    head = b""
    body_bytes = 0


class TooManyError(RejectedRequestError):
    """Body over a limit in JSON values or in events of a batch."""

    status = 413
    reason = "too_many"


class EncodingError(RejectedRequestError):
    """Content-Encoding other than one gzip."""

    status = 415
    reason = "encoding"


class UnavailableError(RejectedRequestError):
    """Spool that cannot store the event now; the sender should send it again."""

    status = 503
    reason = "spool_unavailable"
    headers = (("retry-after", "1"),)


class EndingError(UnavailableError):
    """Process that is shutting down; new connections should go elsewhere."""

    reason = "ending"


class BusyError(UnavailableError):
    """Requests in progress hold more bytes than allowed."""

    reason = "busy"


class CheckFailedError(UnavailableError):
    """Event that could not be checked; nothing is known about it."""

    reason = "check_failed"


class ClientGoneError(RejectedRequestError):
    """Client that closed the connection; work on its request ends."""

    reason = "client_gone"
    headers = (("connection", "close"),)
