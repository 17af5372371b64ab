"""Actions: what there is, and one of them called. For admins alone: readers have no name for it."""

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, QueryParameter

from runbooks.actions.calling import Answer
from runbooks.actions.registry import ACTIONS
from service.access.gate import who_of
from service.acting.asked import Asker, act
from service.errors import InvalidQuestionError
from service.routes.asked import AnyRequest

_MOST_BYTES = 65_536
_JSON = "application/json"


class Described(msgspec.Struct, frozen=True):
    """An action, with the JSON Schema of its arguments."""

    name: str
    says: str
    arguments: dict[str, Any]


class Actions(msgspec.Struct, frozen=True):
    """All of them."""

    actions: list[Described]


@get("/api/v1/actions", access="actions", sync_to_thread=False)
def get_actions() -> Actions:
    """What there is."""
    return Actions(
        [
            Described(one.name, one.says, msgspec.json.schema(one.arguments))
            for one in ACTIONS.values()
        ]
    )


@post(
    "/api/v1/actions/{name:str}", access="act", status_code=200, request_max_body_size=_MOST_BYTES
)
async def post_action(
    request: AnyRequest,
    name: FromPath[str],
    is_dry: Annotated[bool, QueryParameter(name="dry_run")] = True,  # noqa: FBT002 - of the query
) -> Answer:
    """Plan it; with `dry_run=false`, do it."""
    arguments = await _arguments(request)
    who = who_of(request.scope)
    # Whoever reaches an open API may ask what would be done; nobody of them has a name.
    asker = Asker(who=who or "anybody", via="api", is_allowed=who is not None)
    state = request.app.state
    return await asyncio.to_thread(
        act, state.settings, name, arguments, asker, is_dry=is_dry, clock=state.clock
    )


async def _arguments(request: AnyRequest) -> dict[str, Any]:
    # A page of another origin can post forms and text without being asked, and no JSON.
    if request.content_type[0] != _JSON:
        raise InvalidQuestionError(f"Content-Type: expected {_JSON}, with the arguments as JSON")
    body = await request.body()
    try:
        return msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidQuestionError(f"body: expected a JSON object: {error}") from error
