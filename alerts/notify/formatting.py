"""Text from events as plain data: on one line, without invisible characters, and cut.

A name may hold mark-up that notifies a whole channel, line breaks, marks that reverse the direction
of text, or ten thousand characters.
"""

from bisect import bisect_right
from itertools import accumulate
from urllib.parse import quote

from lineage.names.keys import CUT
from lineage.process.clock import SECOND_MICROS, from_micros

_SLACK_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_URL_SAFE = "%/:?&=#+,;@~-._!$'()*[]"


def plain_text(text: str, limit: int) -> str:
    """Return at most `limit` characters on one line; invisible ones as their code."""
    shown = "".join(map(_show_character, text[: limit + 1]))
    return shown if len(shown) <= limit else shown[: limit - 1] + CUT


def escape_slack(text: str, limit: int) -> str:
    """Return `plain_text` with `& < >` as entities, none of which is cut."""
    shown = [_SLACK_ENTITIES.get(character, character) for character in plain_text(text, limit)]
    ends = list(accumulate(map(len, shown)))
    if not ends or ends[-1] <= limit:
        return "".join(shown)
    return "".join(shown[: bisect_right(ends, limit - len(CUT))]) + CUT


def quote_link(url: str | None) -> str | None:
    """Return a URL with every character quoted that could end it; None: it is no link."""
    if url is None or not url.startswith(("https://", "http://")):
        return None
    return quote(url, safe=_URL_SAFE)


def format_time(micros: int) -> str:
    """Return a time in UTC to the minute."""
    return f"{from_micros(micros):%Y-%m-%d %H:%M} UTC"


def format_duration(micros: int) -> str:
    """Return a duration in its two largest units, or in seconds under a minute."""
    seconds = max(0, micros) // SECOND_MICROS
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds} s"
    minutes = seconds // 60
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _show_character(character: str) -> str:
    if character in "\n\r\t":
        return " "
    # Neither controls nor formats (RTL overrides, zero widths), nor any space but the usual one.
    return character if character.isprintable() else f"\\u{ord(character):04x}"
