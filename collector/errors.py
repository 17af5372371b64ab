"""What can be wrong with a request, and the status that answers it: decided here, once a class."""


class RefusedError(Exception):
    """A request that is not taken.

    Attributes:
        reason: a word of a small fixed set, for the counter's label.
        detail: one sentence for the sender: what, where, the value, what to do.
        path: JSON path of the offence, where there is one.
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


class InvalidEventError(RefusedError):
    """The body is no OpenLineage event; the path says where."""

    reason = "invalid_event"


class MalformedRequestError(RefusedError):
    """HTTP that two parsers could read in two ways; the connection is closed."""

    reason = "malformed_request"
    headers = (("connection", "close"),)


class UnauthorizedError(RefusedError):
    """No token, or a wrong one."""

    status = 401
    reason = "unauthorized"
    headers = (("www-authenticate", "Bearer"),)


class ForeignRequestError(RefusedError):
    """A browser sends it for another site."""

    status = 403
    reason = "cross_site"


class NotFoundError(RefusedError):
    """No such route."""

    status = 404
    reason = "not_found"


class WrongMethodError(RefusedError):
    """The route exists, for another method."""

    status = 405
    reason = "wrong_method"


class TooSlowError(RefusedError):
    """The body did not arrive within the deadline."""

    status = 408
    reason = "too_slow"
    headers = (("connection", "close"),)


class TooLargeError(RefusedError):
    """Over a bound in bytes, as sent or inflated.

    Attributes:
        head: the first bytes of the body, as far as they were read.
        body_bytes: its size, as far as it is known.
    """

    status = 413
    reason = "too_large"
    headers = (("connection", "close"),)
    head = b""
    body_bytes = 0


class TooManyError(RefusedError):
    """Over a bound in JSON values, or in the events of a batch."""

    status = 413
    reason = "too_many"


class EncodingError(RefusedError):
    """A Content-Encoding other than gzip, or more than one."""

    status = 415
    reason = "encoding"


class UnavailableError(RefusedError):
    """The spool cannot make the event durable now: nothing was acknowledged, send it again."""

    status = 503
    reason = "spool_unavailable"
    headers = (("retry-after", "1"),)


class EndingError(UnavailableError):
    """Process that ends: it still takes events, and new connections should go elsewhere."""

    reason = "ending"


class BusyError(UnavailableError):
    """The requests in flight hold as many bytes as they may."""

    reason = "busy"


class ClientGoneError(RefusedError):
    """Nobody waits for the answer any more; the work on it ends."""

    reason = "client_gone"
    headers = (("connection", "close"),)
