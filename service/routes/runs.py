"""A run by its id."""

from litestar import get
from litestar.datastructures import State
from litestar.params import FromPath

from service.answers.runs import run
from service.answers.shapes import RunAnswer
from service.asking import question


@get("/api/v1/runs/{run_id:str}", query="run", sync_to_thread=True)
def get_run(state: State, run_id: FromPath[str]) -> RunAnswer:
    """Every run of this id, with what it read and wrote; two jobs that share one are two runs."""
    with question(state.settings, state.clock) as asked:
        return run(asked.reader, run_id)
