"""The SLIs, and how Lineward itself is."""

from litestar import get
from litestar.datastructures import State

from service.answers.shapes import SliAnswer
from service.answers.slis import slis
from service.answers.status import Status, status
from service.asking import question
from service.objectives import objectives


@get("/api/v1/slis", sync_to_thread=True)
def get_slis(state: State) -> SliAnswer:
    """Every SLI of every tier beside its objective."""
    with question(state.settings, state.clock) as asked:
        ratios = objectives(state.settings)
        return slis(asked.reader, asked.evaluated, ratios, now=asked.now)


@get("/api/v1/status", sync_to_thread=True)
def get_status(state: State) -> Status:
    """What waits, what was refused, how old the last evaluation is."""
    return status(state.settings, state.clock())
