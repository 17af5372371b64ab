"""Whether the process lives, and whether it can answer."""

from litestar import MediaType, get
from litestar.datastructures import State

from service.access.gate import OPEN
from service.asking import question
from service.errors import NotReadyError

_READY_SECONDS = 3.0  # a probe waits no longer


@get("/livez", access=OPEN, media_type=MediaType.TEXT, sync_to_thread=False)
def get_livez() -> str:
    """The process answers."""
    return "alive\n"


@get("/readyz", access=OPEN, media_type=MediaType.TEXT, sync_to_thread=True)
def get_readyz(state: State) -> str:
    """A policy is in force and the catalog can be read; 503 until both hold."""
    if state.policy.standing().hash is None:
        # Whoever may open this may not read the file: its error stands in the log.
        raise NotReadyError("the policy file is rejected: see the log, or `lineward policy check`")
    with question(state.settings, state.clock, seconds=_READY_SECONDS):
        return "ready\n"
