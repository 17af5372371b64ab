"""A run by its id."""

from litestar import get
from litestar.params import FromPath

from service.answers.run_shapes import RunAnswer
from service.answers.runs import run
from service.routes.asked import AnyRequest, asked_by


@get("/api/v1/runs/{run_id:str}", query="run", access="run", is_cut=True, sync_to_thread=True)
def get_run(request: AnyRequest, run_id: FromPath[str]) -> RunAnswer:
    """Every run of this id, with what it read and wrote; two jobs that share one are two runs."""
    with asked_by(request) as asked:
        return run(asked.reader, run_id, asked.sight)
