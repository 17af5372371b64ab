"""Names from events stand apart from the text around them, whichever way they are read."""

from html.parser import HTMLParser

import pytest

from tests.service import shop as small
from tests.service.explorer import estate

_NAMES = (estate.RIGHT_TO_LEFT, estate.MARKUP)
_EMPTY = ("meta", "link", "input", "rect", "path")


class _Holders(HTMLParser):
    """The innermost element around each of our names; a picture and the window have no other."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.found: set[str] = set()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - of the parser
        """One more is around what follows."""
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag):
        """No more."""
        if tag not in _EMPTY:
            self._open.pop()

    def handle_data(self, data):
        """Text, with a name in it or not."""
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
def test_a_name_turns_no_text_around_it(shop, path):
    """`U+202E` would write the rest of the line backwards: each name has a `bdi` of its own."""
    page = _Holders()
    page.feed(shop.get(path).text)

    assert page.found == {"bdi"}
