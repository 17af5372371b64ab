"""Runbooks: their pages, and their actions.

Pages are open to all, since they name no dataset or job: an on-call engineer opens one on a phone,
without a token. Actions are for admins alone: readers have no name for it.
"""

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import MediaType, get, post
from litestar.datastructures import ResponseHeader
from litestar.params import FromPath, QueryParameter

from runbooks.actions.calling import ActionAnswer
from runbooks.actions.registry import ACTIONS
from runbooks.html import RUNBOOK_CONTENT_POLICY, index_html, page_html
from runbooks.library import RUNBOOKS_PATH
from service.actions.action_runner import Requester, run_action
from service.api.access.gate import OPEN, who_asks, who_of
from service.api.routes.request import MAX_REQUEST_BYTES, AnyRequest, json_body

_HEADERS = [ResponseHeader(name="Content-Security-Policy", value=RUNBOOK_CONTENT_POLICY)]


@get(
    RUNBOOKS_PATH,
    access=OPEN,
    media_type=MediaType.HTML,
    response_headers=_HEADERS,
    include_in_schema=False,
    sync_to_thread=False,
)
def get_runbooks() -> str:
    """List the runbook pages."""
    return index_html()


@get(
    f"{RUNBOOKS_PATH}/{{name:str}}",
    access=OPEN,
    media_type=MediaType.HTML,
    response_headers=_HEADERS,
    include_in_schema=False,
    sync_to_thread=False,
)
def get_runbook(name: FromPath[str]) -> str:
    """Return one page."""
    return page_html(name)


class ActionDescription(msgspec.Struct, frozen=True):
    """Action, with the JSON Schema of its arguments."""

    name: str
    says: str
    arguments: dict[str, Any]


class Actions(msgspec.Struct, frozen=True):
    """List of all actions."""

    actions: list[ActionDescription]


@get("/api/v1/actions", access="actions", sync_to_thread=False)
def get_actions() -> Actions:
    """List the actions."""
    return Actions(
        [
            ActionDescription(one.name, one.says, msgspec.json.schema(one.arguments))
            for one in ACTIONS.values()
        ]
    )


@post(
    "/api/v1/actions/{name:str}",
    access="act",
    sends=dict[str, Any],
    status_code=200,
    request_max_body_size=MAX_REQUEST_BYTES,
)
async def post_action(
    request: AnyRequest,
    name: FromPath[str],
    is_dry: Annotated[bool, QueryParameter(name="dry_run")] = True,  # noqa: FBT002 - of the query
) -> ActionAnswer:
    """Plan it; with `dry_run=false`, do it."""
    arguments = await json_body(request, dict[str, Any])
    # Anybody who reaches an open API may ask for a dry run; none of them has a name.
    is_named = who_of(request.scope) is not None
    asker = Requester(who=who_asks(request.scope), via="api", is_allowed=is_named)
    state = request.app.state
    return await asyncio.to_thread(
        run_action,
        state.settings,
        name,
        arguments,
        asker,
        is_dry=is_dry,
        clock=state.clock,
        policy=state.policy.current(),
    )
