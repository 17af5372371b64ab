"""Paths that the page on the API says need the role `admin`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.api.access.decision import ADMIN, NEEDS
from service.api.access.gate import OPEN

pytestmark = pytest.mark.postgres_nightly

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "api.md"
_PATH = re.compile(r"`(?:[A-Z]+ )?(/[^`?]*)")
_PLACEHOLDER = re.compile(r"{[^}]*}")
_CLAIM = "role `admin`"


def _documented() -> Iterator[str]:
    """Yield the paths of rows, or of sections with an introduction, that name the role."""
    paths = _PAGE.read_text("utf-8").partition("## Errors")[0]
    for section in re.split(r"(?m)^#+ ", paths):
        introduction = section.partition("\n| path")[0]
        for row in re.findall(r"(?m)^\| `.*", section):
            if _CLAIM in introduction or _CLAIM in row:
                yield from _PATH.findall(row.split(" | ")[0])


def _whole(path: str) -> str:
    """Return a path as handlers have it: those of Marquez's read API begin with `/api/v1`."""
    path = path if path.startswith(("/api/", "/schema")) else f"/api/v1{path}"
    return _PLACEHOLDER.sub("{}", path)


def test_the_page_names_each_path_that_needs_the_role_admin(estate):
    """Compare the rows with the handlers. OpenAPI has two documented paths of several.

    Mutant: without the role in the row of `/api/v1/status` the page lacks a path.
    """
    handlers = [
        (route.path_format, each.opt.get("access"))
        for route in estate.client.app.routes
        for each in getattr(route, "route_handlers", ())
        if "OPTIONS" not in each.http_methods
    ]
    needed = {
        _whole(path)
        for path, access in handlers
        if access != OPEN and NEEDS.get(access, ADMIN) == ADMIN
        if path.startswith("/api/") or path in ("/schema", "/schema/openapi.json")
    }

    assert {_whole(path) for path in _documented()} == needed
