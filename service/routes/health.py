"""Whether the process lives, and whether it can answer."""

from litestar import MediaType, get
from litestar.datastructures import State

from service.asking import question


@get("/livez", media_type=MediaType.TEXT, sync_to_thread=False)
def get_livez() -> str:
    """The process answers."""
    return "alive\n"


@get("/readyz", media_type=MediaType.TEXT, sync_to_thread=True)
def get_readyz(state: State) -> str:
    """The catalog can be read; 503 until it can."""
    with question(state.settings, state.clock):
        return "ready\n"
