"""Errors of requests and commands, each with its exit code and HTTP status."""

from lineage.errors import InvalidRequestError, RequestError


class NoDataError(RequestError):
    """Missing or empty catalog: no event has arrived yet."""

    exit_code = 4
    status = 503
    title = "No data yet"


class NotReadyError(RequestError):
    """Service that is not ready yet; the text says what to do."""

    status = 503
    title = "Not ready"


class UnreachableError(RequestError):
    """Catalog server that does not answer."""

    status = 503
    title = "Catalog unreachable"


class UnknownFileError(RequestError):
    """Error for a file name that is not served."""

    exit_code = 3
    status = 404
    title = "Unknown file"


class UnknownDatasetError(RequestError):
    """Name without a dataset; `candidates` has similar names."""

    exit_code = 3
    status = 404
    title = "Unknown dataset"

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        self.candidates = candidates
        hint = f" Did you mean: {', '.join(candidates)}?" if candidates else ""
        super().__init__(f"no dataset is named {wanted[:80]!r}.{hint}")


class AmbiguousDatasetError(UnknownDatasetError):
    """Name of several datasets in different namespaces."""

    title = "Ambiguous dataset"

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        super().__init__(wanted, candidates)
        listed = ", ".join(candidates)
        self.args = (
            f"{wanted[:80]!r} is the name of several datasets: {listed}. Give the namespace.",
        )


class UnknownColumnError(UnknownDatasetError):
    """Dataset has no column of that name; columns that it has are in `candidates`."""

    title = "Unknown column"

    def __init__(self, dataset: str, column: str, candidates: list[str]) -> None:
        super().__init__(dataset, candidates)
        listed = f" Known columns include: {', '.join(candidates)}." if candidates else ""
        known = listed or " No columns are known."
        self.args = (f"the dataset {dataset[:80]!r} has no column {column[:80]!r}.{known}",)


class ForbiddenNamespaceError(RequestError):
    """Namespace that the token may not see; the error does not reveal its content."""

    status = 403
    title = "Forbidden"


class UnknownRunError(RequestError):
    """Run id without any event."""

    exit_code = 3
    status = 404
    title = "Unknown run"


class UnknownNodeError(RequestError):
    """Marquez node id without a dataset or job."""

    exit_code = 3
    status = 404
    title = "Unknown node"


class LakeTooLargeError(InvalidRequestError):
    """Window with more events than can be read in time."""

    title = "Window too large"


class NoLongerKeptError(RequestError):
    """Window before the first day that the lake keeps."""

    exit_code = 3
    status = 410
    title = "No longer kept"


class UnreachableLakeError(RequestError):
    """Lake whose files cannot be read; whether they hold the requested runs is unknown."""

    status = 503
    title = "Lake out of reach"


class BusyLakeError(RequestError):
    """Lake that is busy with another query."""

    status = 503
    title = "Lake busy"


class NotRunningError(RequestError):
    """Collector that does not answer at its address."""

    exit_code = 5
    status = 503
    title = "Not running"


class RejectedInputError(RequestError):
    """Invalid policy, event file or note."""

    exit_code = 6
    status = 400
    title = "Rejected"


class GrafanaFailedError(RequestError):
    """Grafana that does not answer, or rejects a request."""

    status = 502
    title = "Failed"


class OccupiedError(RequestError):
    """Port or data folder that another process uses."""

    exit_code = 7
    status = 409
    title = "In use"


class NotJsonError(RequestError):
    """Body without a JSON content type, which a page of another site could send."""

    status = 415
    title = "Expected JSON"


class MalformedBodyError(RequestError):
    """Body that cannot be read completely."""

    status = 400
    title = "Malformed body"


class BodyTooSlowError(RequestError):
    """Body that did not arrive in time."""

    status = 408
    title = "Too slow"


class UnknownPersonError(RequestError):
    """Unknown caller; the error does not reveal whether signature or name is wrong."""

    status = 401
    title = "Unauthorized"


class RequestTimeoutError(RequestError):
    """Request that timed out; the action may have been done."""

    status = 503
    title = "Too slow"


class NotSetUpError(RequestError):
    """Feature that is not configured; the text names the setting."""

    status = 404
    title = "Not configured"
