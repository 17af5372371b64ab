"""Elements of a batch of which a part is no JSON, so that each event is judged by itself."""

import re
from itertools import pairwise

from collector.json_text import STRING

_MARK = re.compile(STRING.pattern + rb"|[\[\]{},]", re.DOTALL)
_SPACE = b" \t\r\n"
_OPENING, _CLOSING, _COMMA = b"[{", b"]}", ord(",")


def elements_of(body: bytes) -> list[bytes] | None:
    """Return what stands between the commas of an array; None where the body is no array.

    Brackets are counted and strings skipped; whether what is between them is JSON is not looked at.
    """
    text = body.strip(_SPACE)
    if not text.startswith(b"["):
        return None
    commas, end = _places(text)
    if end != len(text) - 1:
        return None
    borders = [0, *commas, end]
    found = [text[begin + 1 : until].strip(_SPACE) for begin, until in pairwise(borders)]
    return [] if found == [b""] else found


def _places(text: bytes) -> tuple[list[int], int | None]:
    """Return where the commas of the outer array are, and its end."""
    commas: list[int] = []
    depth = 0
    for match in _MARK.finditer(text):
        place = match.start()
        mark = text[place]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            if depth == 0:
                return commas, place
        elif mark == _COMMA and depth == 1:
            commas.append(place)
    return commas, None
