"""Parameters of Marquez's API: names as segments of its paths, and parts of lists.

Names hold slashes, encoded or not. The server decodes paths, and a name such as `s3://shop` would
be several segments. Handlers get each name as one segment, in which `/` and `%` are encoded:
`decode_segments` gives the name.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import unquote

from litestar.params import QueryParameter
from litestar.types import ASGIApp, Receive, Scope, Send

from service.queries.datasets import FURTHEST
from service.queries.marquez_api.paging import MOST_LIMIT

# A base URL that ends with a slash makes paths that begin with two.
_NAMED: Final = re.compile(r"/+api/+v1/+(namespaces|sources)/+(?=[^/])")

PageLimit = Annotated[
    int, QueryParameter(ge=0, le=MOST_LIMIT, description=("Maximum number of results."))
]
Offset = Annotated[int, QueryParameter(ge=0, le=FURTHEST, description="Number of results to skip.")]
DEFAULT_LIMIT = 100


class NameSegments:
    """ASGI application around the router."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Route by names."""
        path = _raw_path(scope)
        if begin := _NAMED.match(path):
            parts = path[begin.end() :].rstrip("/").split("/")
            names = _of_namespace(parts) if begin[1] == "namespaces" else [_namespace(parts)]
            scope["path"] = "/".join(("/api/v1", begin[1], *names))
        await self._app(scope, receive, send)


def decode_segments(segment: str) -> str:
    """Return the name that a segment stands for."""
    return unquote(segment)


def _raw_path(scope: Scope) -> str:
    raw: Any = scope.get("raw_path") or b""
    # The framework's test client leaves the query in it.
    return bytes(raw).partition(b"?")[0].decode(errors="replace")


def _of_namespace(parts: list[str]) -> list[str]:
    """Return the segments behind `/namespaces/`.

    The first `jobs` or `datasets` ends the namespace: one that has such a part has to be encoded.
    """
    for place, part in enumerate(parts[1:], 1):
        if part in {"datasets", "jobs"}:
            return [_namespace(parts[:place]), part, *_of_kind(part, parts[place + 1 :])]
    return [_namespace(parts)]


def _namespace(parts: Sequence[str]) -> str:
    """Return a namespace as one segment; proxies make `s3:/shop` of `s3://shop`."""
    is_merged = len(parts) > 1 and parts[0].endswith(":") and parts[1]
    return _name([parts[0], "", *parts[1:]] if is_merged else parts)


def _of_kind(kind: str, parts: list[str]) -> list[str]:
    if not parts:
        return []
    last = "versions" if kind == "datasets" else "runs"
    if len(parts) > 1 and parts[-1] == last:
        return [_name(parts[:-1]), last]
    if kind == "datasets" and len(parts) > 2 and parts[-2] == last:  # noqa: PLR2004 - name, word, id
        return [_name(parts[:-2]), last, _name(parts[-1:])]
    return [_name(parts)]


def _name(parts: Sequence[str]) -> str:
    return unquote("/".join(parts)).replace("%", "%25").replace("/", "%2F")
