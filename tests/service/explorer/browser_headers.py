"""Headers that a browser sends with a page request or a form."""

from tests.service.api.access.estate import TOKENS

OWN = {"Origin": "http://127.0.0.1"}


def by_cookie(who: str) -> dict[str, str]:
    """Return the headers of a browser that is signed in, and has another cookie."""
    return {"Cookie": f"theme=dark; lineward_token={TOKENS[who]}"}
