"""Check of the collector's address that an option names."""

from urllib.parse import urlsplit

from lineage.errors import InvalidRequestError


def require_collector_url(option: str, url: str) -> None:
    """Check that this is an address without a path: senders add the path of the API.

    Raises:
        InvalidRequestError: it is not; the text names the option.
    """
    if not _is_address(url):
        message = (
            f"{option}: expected http://HOST:PORT without a path"
            f" (/api/v1/lineage is added), got {url[:80]!r}"
        )
        raise InvalidRequestError(message)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:  # a port that is no number, or half an IPv6 address
        return False
    is_bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and has_port and is_bare
