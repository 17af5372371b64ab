"""Differences between two runs."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.session import AnyRequest, session
from service.errors import InvalidQuestionError
from service.queries.diff import diff, runs_of_job
from service.queries.diff_shapes import RunDiff

_Text = Annotated[str | None, QueryParameter(max_length=4_096)]


@get("/api/v1/diff", query="diff", access="diff", sync_to_thread=True)
def get_diff(
    request: AnyRequest,
    *,
    first: _Text = None,
    second: _Text = None,
    job: _Text = None,
    job_namespace: _Text = None,
) -> RunDiff:
    """Compare `first` and `second`, or a job's last success and the first failure after it."""
    with session(request) as asked:
        if job is not None and first is None and second is None:
            first, second = runs_of_job(asked.reader, job, job_namespace)
        if first is None or second is None:
            message = "first, second: give two runs, or a job"
            raise InvalidQuestionError(message)
        return diff(asked.reader, first, second)
