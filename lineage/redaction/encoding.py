"""Percent-encoding, which hides a secret."""

import re
from urllib.parse import unquote

_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_MOST_DECODINGS = 3


def decode_percent(text: str) -> str:
    """Return the text without percent-encoding, which may be there several times."""
    for _ in range(_MOST_DECODINGS):
        if not _ENCODED.search(text):
            break
        text = unquote(text).replace("\0", "")
    return text
