"""Names from events, isolated in their text direction."""

from html.parser import HTMLParser

import pytest

from tests.service import shop as small
from tests.service.explorer import estate

_NAMES = (estate.RIGHT_TO_LEFT, estate.MARKUP)
_EMPTY = ("meta", "link", "input", "rect", "path")


class _Holders(HTMLParser):
    """Parser that finds the innermost element around each name, but for pictures and titles."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.found: set[str] = set()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - of the parser
        """Open an element."""
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag):
        """Close an element."""
        if tag not in _EMPTY:
            self._open.pop()

    def handle_data(self, data):
        """Note the element around a text with a name."""
        if not {"svg", "head"}.intersection(self._open) and any(name in data for name in _NAMES):
            self.found.add(self._open[-1])


@pytest.mark.parametrize(
    "path",
    [
        "/datasets",
        "/dataset?dataset=core/orders",
        f"/dataset?dataset={estate.RIGHT_TO_LEFT}",
        "/incidents?all=true",
        f"/incidents/{estate.INCIDENT}",
        f"/runs/{small.RUN_ID}",
    ],
)
def test_a_name_changes_no_text_direction_around_it(shop, path):
    """Wrap each name in a `bdi`, as `U+202E` would reverse the rest of the line."""
    page = _Holders()
    page.feed(shop.get(path).text)

    assert page.found == {"bdi"}
