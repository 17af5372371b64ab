"""Text from events as plain data: on one line, with nothing invisible in it, and cut.

A name may hold anything: markup that rings a whole channel, line breaks that forge a second line,
marks that turn the direction of what follows, ten thousand characters.
"""

from bisect import bisect_right
from itertools import accumulate
from urllib.parse import quote

from lineage.clock import from_micros

CUT = "…"
_SLACK_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_URL_SAFE = "%/:?&=#+,;@~-._!$'()*[]"


def plain_text(text: str, limit: int) -> str:
    """At most `limit` characters on one line; what is invisible is written as its number."""
    shown = "".join(map(_show_character, text[: limit + 1]))
    return shown if len(shown) <= limit else shown[: limit - 1] + CUT


def escape_slack(text: str, limit: int) -> str:
    """`plain` for any text of Slack: `& < >` as entities, none of which is cut in two."""
    shown = [_SLACK_ENTITIES.get(character, character) for character in plain_text(text, limit)]
    ends = list(accumulate(map(len, shown)))
    if not ends or ends[-1] <= limit:
        return "".join(shown)
    return "".join(shown[: bisect_right(ends, limit - len(CUT))]) + CUT


def quote_link(url: str | None) -> str | None:
    """A link that is one, with every character quoted that could end it; None for any other."""
    if url is None or not url.startswith(("https://", "http://")):
        return None
    return quote(url, safe=_URL_SAFE)


def format_time(micros: int) -> str:
    """To the minute, UTC."""
    return f"{from_micros(micros):%Y-%m-%d %H:%M} UTC"


def format_duration(micros: int) -> str:
    """Return it in its two largest units, from minutes to days; seconds where it is shorter."""
    seconds = max(0, micros) // 1_000_000
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
