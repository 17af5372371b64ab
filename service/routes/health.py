"""Whether the process lives, and whether it can answer."""

from litestar import MediaType, get
from litestar.datastructures import State

from service.access.gate import OPEN
from service.asking import question


@get("/livez", access=OPEN, media_type=MediaType.TEXT, sync_to_thread=False)
def get_livez() -> str:
    """The process answers."""
    return "alive\n"


@get("/readyz", access=OPEN, media_type=MediaType.TEXT, sync_to_thread=True)
def get_readyz(state: State) -> str:
    """The catalog can be read; 503 until it can."""
    with question(state.settings, state.clock):
        return "ready\n"
