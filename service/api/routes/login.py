"""Login of a browser: exchanges a token for a cookie; and logout, which removes it."""

import re
from typing import Final

from litestar import post
from litestar.exceptions import TooManyRequestsException
from litestar.response import Redirect

from lineage.errors import InvalidRequestError
from service.api.access.decision import cookie_of
from service.api.access.gate import OPEN, TOO_MANY, address_of
from service.api.cross_site import require_own_form
from service.api.routes.request import (
    HEADERS,
    MAX_REQUEST_BYTES,
    AnyRequest,
    page,
    render_for_caller,
)

_TOKEN: Final = re.compile(r"[!-~]{1,4096}")  # what an Authorization header could hold
# A path of ours: two slashes, or one and its mirror image, would lead to another host.
_OWN_PATH: Final = re.compile(r"/(?![/\\])[!-~]*")


@page("/login", access=OPEN)
def get_login(request: AnyRequest) -> str:
    """Show the form, without revealing whether a token is needed."""
    return render_for_caller(request, "login")


@post(
    "/login",
    access=OPEN,
    page=True,
    include_in_schema=False,
    response_headers=HEADERS,
    request_max_body_size=MAX_REQUEST_BYTES,
)
async def post_login(request: AnyRequest) -> Redirect:
    """Keep the token in the browser; the gate judges it at each page."""
    require_own_form(request)
    if not request.app.state.guard.may_sign_in(address_of(request.scope)):
        raise TooManyRequestsException(TOO_MANY.detail, headers={"Retry-After": "10"})
    sent = await request.form()
    token = str(sent.get("token", "")).strip()
    if not _TOKEN.fullmatch(token):
        raise InvalidRequestError("token: expected one as the policy has it, without spaces")
    wanted = str(sent.get("next", "/"))
    kept = cookie_of(token, is_secure=_is_secure(request))
    return Redirect(wanted if _OWN_PATH.fullmatch(wanted) else "/", status_code=303, cookies=[kept])


@post("/logout", access=OPEN, page=True, include_in_schema=False, response_headers=HEADERS)
async def post_logout(request: AnyRequest) -> Redirect:
    """Forget it."""
    require_own_form(request)
    gone = cookie_of("", is_secure=_is_secure(request))
    return Redirect("/login", status_code=303, cookies=[gone])


def _is_secure(request: AnyRequest) -> bool:
    """Return whether people reach the service by TLS; no browser then sends the token without."""
    return str(request.app.state.routing.public_url).startswith("https:")
