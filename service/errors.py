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


class ForbiddenNamespaceError(ServiceError):
    """A namespace that the token may not see; whether anything is in it stays untold."""

    status = 403
    title = "Forbidden"


class UnknownRunError(ServiceError):
    """No event of a run of that id has been seen."""

    exit_code = 3
    status = 404
    title = "Unknown run"


class InvalidQuestionError(ServiceError):
    """A parameter is missing, or has a value out of its range."""

    exit_code = 2
    status = 400
    title = "Invalid request"


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


class OccupiedError(ServiceError):
    """A port, or the data folder, is in use by another process."""

    exit_code = 7
    status = 409
    title = "In use"
