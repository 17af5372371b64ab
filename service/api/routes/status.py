"""Overall state: the overview page, the SLIs, the status of Lineward itself, and health checks."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from litestar import MediaType, get
from litestar.datastructures import State

from service.api.access.gate import OPEN
from service.api.routes.request import AnyRequest, page, render_for_caller, session
from service.errors import NotReadyError
from service.explorer.overview import load_overview
from service.queries.catalog_session import open_session
from service.queries.shapes import SliAnswer
from service.queries.slis import list_slis, objectives_of
from service.queries.status import Status, load_status
from service.runtime.jobs import all_jobs

_READY_SECONDS: Final = 3.0  # a probe waits no longer
# Its own: an answer that takes long is no reason to be taken out of service.
_PROBING: Final = ThreadPoolExecutor(1, thread_name_prefix="readyz")


@page("/", access="overview", is_cut=True)
def get_overview(request: AnyRequest) -> str:
    """Show the overall state, open incidents and SLIs."""
    state = request.app.state
    with session(request) as asked:
        lineward = load_status(
            state.settings, asked.now, count_datasets=False, own_policy=state.policy.standing()
        )
        ratios = objectives_of(state.policy.current())
        return render_for_caller(request, "overview", view=load_overview(asked, ratios, lineward))


@get("/api/v1/slis", access="slis", is_cut=True, sync_to_thread=True)
def get_slis(request: AnyRequest) -> SliAnswer:
    """Return every SLI of every tier beside its objective."""
    with session(request) as asked:
        ratios = objectives_of(request.app.state.policy.current())
        return list_slis(asked.reader, asked.evaluated, ratios, now=asked.now)


@get("/api/v1/status", access="status", sync_to_thread=True)
def get_status(state: State) -> Status:
    """Return backlog, rejected events, periodic jobs, and the age of the last evaluation."""
    settings, now = state.settings, state.clock()
    return load_status(
        settings,
        now,
        own_policy=state.policy.standing(),
        jobs=all_jobs(settings.data_dir, now.timestamp(), state.jobs()),
    )


@get("/livez", access=OPEN, media_type=MediaType.TEXT, sync_to_thread=False)
def get_livez() -> str:
    """Answer while the process runs."""
    return "alive\n"


@get("/readyz", access=OPEN, media_type=MediaType.TEXT)
async def get_readyz(state: State) -> str:
    """Answer 200 with a policy in force and a readable catalog, else 503."""
    await asyncio.get_running_loop().run_in_executor(_PROBING, _require_ready, state)
    return "ready\n"


def _require_ready(state: State) -> None:
    if state.policy.standing().hash is None:
        # A caller of this route may not read the file: its error stands in the log.
        raise NotReadyError("the policy file is rejected: see the log, or `lineward policy check`")
    with open_session(state.settings, state.clock, seconds=_READY_SECONDS):
        pass
