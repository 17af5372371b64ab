"""What can go wrong for the one who asks; exit code and HTTP status of each are decided here."""

from typing import ClassVar


class ServiceError(Exception):
    """A question that has no answer; its text says what to do next."""

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Failed"


class NoDataError(ServiceError):
    """Nothing has arrived yet: no catalog at the place asked, or an empty one."""

    exit_code = 4
    status = 503
    title = "No data yet"


class NotReadyError(ServiceError):
    """The service cannot do its work yet; the text says what to do."""

    status = 503
    title = "Not ready"


class UnreachableError(ServiceError):
    """The catalog's server does not answer."""

    status = 503
    title = "Catalog out of reach"


class UnknownFileError(ServiceError):
    """Error for a file name that is not served."""

    exit_code = 3
    status = 404
    title = "Unknown file"


class UnknownDatasetError(ServiceError):
    """No dataset of that name; the likeliest ones are in `candidates`."""

    exit_code = 3
    status = 404
    title = "Unknown dataset"

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        self.candidates = candidates
        hint = f" Did you mean: {', '.join(candidates)}?" if candidates else ""
        super().__init__(f"no dataset is called {wanted[:80]!r}.{hint}")


class AmbiguousDatasetError(UnknownDatasetError):
    """Several datasets have that name, in different namespaces."""

    title = "Ambiguous dataset"

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        super().__init__(wanted, candidates)
        listed = ", ".join(candidates)
        self.args = (f"{wanted[:80]!r} is the name of several datasets: {listed}. Say which.",)


class UnknownColumnError(UnknownDatasetError):
    """Dataset has no column of that name; columns that it has are in `candidates`."""

    title = "Unknown column"

    def __init__(self, dataset: str, column: str, candidates: list[str]) -> None:
        super().__init__(dataset, candidates)
        listed = f" It has, among others: {', '.join(candidates)}." if candidates else ""
        known = listed or " No column of it is known."
        self.args = (f"the dataset {dataset[:80]!r} has no column {column[:80]!r}.{known}",)


class ForbiddenNamespaceError(ServiceError):
    """A namespace that the token may not see; whether anything is in it stays untold."""

    status = 403
    title = "Forbidden"


class UnknownRunError(ServiceError):
    """No event of a run of that id has been seen."""

    exit_code = 3
    status = 404
    title = "Unknown run"


class UnknownRunbookError(ServiceError):
    """No runbook has that name."""

    exit_code = 3
    status = 404
    title = "Unknown runbook"


class UnknownNodeError(ServiceError):
    """No dataset or job is what this id of Marquez's means."""

    exit_code = 3
    status = 404
    title = "Unknown node"


class InvalidQuestionError(ServiceError):
    """A parameter is missing, or has a value out of its range."""

    exit_code = 2
    status = 400
    title = "Invalid request"


class LakeTooLargeError(InvalidQuestionError):
    """A window has more events than can be read in time."""

    title = "Window too large"


class NoLongerKeptError(ServiceError):
    """A window lies before the first day that the lake keeps."""

    exit_code = 3
    status = 410
    title = "No longer kept"


class UnreachableLakeError(ServiceError):
    """The files of the lake cannot be read; whether they hold what was asked for is unknown."""

    status = 503
    title = "Lake out of reach"


class BusyLakeError(ServiceError):
    """Another question to the lake is being answered."""

    status = 503
    title = "Lake busy"


class NotRunningError(ServiceError):
    """The collector does not answer at its address."""

    exit_code = 5
    status = 503
    title = "Not running"


class RefusedInputError(ServiceError):
    """A policy, a file of history or a note is not taken as it stands."""

    exit_code = 6
    status = 400
    title = "Refused"


class ActionRefusedError(ServiceError):
    """An action could be done, and is not: not configured, not safe now, nothing to be done."""

    exit_code = 6
    status = 409
    title = "Refused"


class ActionForbiddenError(ServiceError):
    """Who asks may not have it done."""

    exit_code = 6
    status = 403
    title = "Forbidden"


class ActionFailedError(ServiceError):
    """Something that an action needs did not answer, or said no."""

    status = 502
    title = "Failed"


class OccupiedError(ServiceError):
    """A port, or the data folder, is in use by another process."""

    exit_code = 7
    status = 409
    title = "In use"


class UnknownIncidentError(ServiceError):
    """No incident of that id, or none that the token may see."""

    exit_code = 3
    status = 404
    title = "Unknown incident"


class UnknownWindowError(ServiceError):
    """No suppression window of that number."""

    exit_code = 3
    status = 404
    title = "Unknown window"


class NotNowError(ServiceError):
    """What was asked of an incident or a window means nothing in the state that it is in."""

    exit_code = 6
    status = 409
    title = "Refused"


class NotJsonError(ServiceError):
    """A body that is not said to be JSON: a page of another site may send any other kind."""

    status = 415
    title = "Expected JSON"


class MalformedBodyError(ServiceError):
    """A body that cannot be read to its end."""

    status = 400
    title = "Malformed body"


class BodyTooSlowError(ServiceError):
    """A body that did not come in time."""

    status = 408
    title = "Too slow"


class UnknownPersonError(ServiceError):
    """Whoever asks is not known; whether by a signature or by name stays untold."""

    status = 401
    title = "Unauthorized"


class TooSlowError(ServiceError):
    """What was sent or written took too long; it may be done all the same."""

    status = 503
    title = "Too slow"


class NotSetUpError(ServiceError):
    """What would answer this is not set up; the text names the setting."""

    status = 404
    title = "Not set up"
