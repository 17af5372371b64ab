"""Health checks: whether the process lives, and whether it can answer."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from litestar import MediaType, get
from litestar.datastructures import State

from service.api.access.gate import OPEN
from service.errors import NotReadyError
from service.queries.catalog_session import open_session

_READY_SECONDS: Final = 3.0  # a probe waits no longer
# Its own: an answer that takes long is no reason to be taken out of service.
_PROBING: Final = ThreadPoolExecutor(1, thread_name_prefix="readyz")


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
