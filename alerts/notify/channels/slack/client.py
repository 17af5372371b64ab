"""Client of slack-sdk with limits on what a response may do."""

from io import BytesIO
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import (
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
)

from slack_sdk import WebClient

_MAX_BYTES: Final = 16_777_216  # a page of a hundred messages is a tenth of it


class OversizedResponseError(OSError):
    """Response that is larger than we read."""


class SafeWebClient(WebClient):
    """Client that follows no redirect, which would take the token along, and limits responses."""

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        """Replace the library's method; `test_slack_client.py` fails when it is renamed.

        Raises:
            HTTPError: any status but 2xx; a redirect is one of these.
            OversizedAnswerError: the answer is over 16 MiB.
        """
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        opener = build_opener(_NoRedirect(), ProxyHandler(proxies), HTTPSHandler(context=self.ssl))
        try:
            with opener.open(req, timeout=self.timeout) as answer:
                body = answer.read(_MAX_BYTES + 1)
                if len(body) > _MAX_BYTES:
                    raise OversizedResponseError(f"{url}: the answer is over {_MAX_BYTES} bytes")
                return {"status": answer.code, "headers": answer.headers, "body": body.decode()}
        except HTTPError as error:
            beginning = BytesIO(error.read(_MAX_BYTES))
            raise HTTPError(url, error.code, error.reason, error.headers, beginning) from None


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        """Return None: the redirect itself is the response."""
