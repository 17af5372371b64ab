"""Errors of requests and commands, each with its exit code and HTTP status."""

from typing import ClassVar


class ServiceError(Exception):
    """Request or command that failed; the text says what to do next."""

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Failed"


class NoDataError(ServiceError):
    """Missing or empty catalog: no event has arrived yet."""

    exit_code = 4
    status = 503
    title = "No data yet"


class NotReadyError(ServiceError):
    """Service that is not ready yet; the text says what to do."""

    status = 503
    title = "Not ready"


class UnreachableError(ServiceError):
    """Catalog server that does not answer."""

    status = 503
    title = "Catalog unreachable"


class UnknownFileError(ServiceError):
    """Error for a file name that is not served."""

    exit_code = 3
    status = 404
    title = "Unknown file"


class UnknownDatasetError(ServiceError):
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


class ForbiddenNamespaceError(ServiceError):
    """Namespace that the token may not see; the error does not reveal its content."""

    status = 403
    title = "Forbidden"


class UnknownRunError(ServiceError):
    """Run id without any event."""

    exit_code = 3
    status = 404
    title = "Unknown run"


class UnknownRunbookError(ServiceError):
    """Name without a runbook."""

    exit_code = 3
    status = 404
    title = "Unknown runbook"


class UnknownNodeError(ServiceError):
    """Marquez node id without a dataset or job."""

    exit_code = 3
    status = 404
    title = "Unknown node"


class InvalidQuestionError(ServiceError):
    """Parameter that is missing or invalid."""

    exit_code = 2
    status = 400
    title = "Invalid request"


class LakeTooLargeError(InvalidQuestionError):
    """Window with more events than can be read in time."""

    title = "Window too large"


class NoLongerKeptError(ServiceError):
    """Window before the first day that the lake keeps."""

    exit_code = 3
    status = 410
    title = "No longer kept"


class UnreachableLakeError(ServiceError):
    """Lake whose files cannot be read; whether they hold the requested runs is unknown."""

    status = 503
    title = "Lake out of reach"


class BusyLakeError(ServiceError):
    """Lake that is busy with another query."""

    status = 503
    title = "Lake busy"


class NotRunningError(ServiceError):
    """Collector that does not answer at its address."""

    exit_code = 5
    status = 503
    title = "Not running"


class RejectedInputError(ServiceError):
    """Invalid policy, event file or note."""

    exit_code = 6
    status = 400
    title = "Rejected"


class ActionRejectedError(ServiceError):
    """Action that is not configured, not safe now, or has nothing to do."""

    exit_code = 6
    status = 409
    title = "Rejected"


class ActionForbiddenError(ServiceError):
    """Action that the caller may not run."""

    exit_code = 6
    status = 403
    title = "Forbidden"


class ActionFailedError(ServiceError):
    """Action that failed because another system did not answer or rejected it."""

    status = 502
    title = "Failed"


class OccupiedError(ServiceError):
    """Port or data folder that another process uses."""

    exit_code = 7
    status = 409
    title = "In use"


class UnknownIncidentError(ServiceError):
    """Incident that does not exist or that the token may not see."""

    exit_code = 3
    status = 404
    title = "Unknown incident"


class UnknownWindowError(ServiceError):
    """Number without a suppression window."""

    exit_code = 3
    status = 404
    title = "Unknown window"


class NotNowError(ServiceError):
    """Action that the state of the incident or window does not allow."""

    exit_code = 6
    status = 409
    title = "Rejected"


class NotJsonError(ServiceError):
    """Body without a JSON content type, which a page of another site could send."""

    status = 415
    title = "Expected JSON"


class MalformedBodyError(ServiceError):
    """Body that cannot be read completely."""

    status = 400
    title = "Malformed body"


class BodyTooSlowError(ServiceError):
    """Body that did not arrive in time."""

    status = 408
    title = "Too slow"


class UnknownPersonError(ServiceError):
    """Unknown caller; the error does not reveal whether signature or name is wrong."""

    status = 401
    title = "Unauthorized"


class TooSlowError(ServiceError):
    """Request that timed out; the action may have been done."""

    status = 503
    title = "Too slow"


class NotSetUpError(ServiceError):
    """Feature that is not configured; the text names the setting."""

    status = 404
    title = "Not configured"
