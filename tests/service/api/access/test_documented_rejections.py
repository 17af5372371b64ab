"""Requests that the policy's page says a token for some namespaces may not make."""

import re
from pathlib import Path

import pytest

from service.api.access.decision import NEEDS, READ_ROLE

pytestmark = pytest.mark.postgres_nightly

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "policy.md"
_PARAMETER = re.compile(r"{[^}]*}")


def _without_names(path: str) -> str:
    return _PARAMETER.sub("{}", path)


def _documented() -> set[str]:
    section = _PAGE.read_text("utf-8").partition("### Visibility")[2].partition("\n#")[0]
    rows = [row for row in section.splitlines() if "| 403" in row]
    return {_without_names(path) for row in rows for path in re.findall(r"`(/[^`]*)`", row)}


def test_the_page_names_each_path_that_a_limited_token_may_not_read(estate):
    """Compare the rows with 403 with the handlers that need the role `read`.

    Mutant: without the row of suppressions the page lacks a path.
    """
    handlers = [
        (route.path_format, each.opt)
        for route in estate.client.app.routes
        for each in getattr(route, "route_handlers", ())
    ]
    whole = {
        _without_names(path)
        for path, opt in handlers
        if NEEDS.get(opt.get("access")) == READ_ROLE and not opt.get("is_cut")
    }

    assert _documented() == whole


def test_a_limited_token_may_make_no_request_beyond_the_role_read(estate):
    """Find no handler of another role that limits its answer, as the page says.

    Mutant: with `is_cut=True` at `post_action` the list has this handler.
    """
    limited = [
        (route.path_format, each.opt["access"])
        for route in estate.client.app.routes
        for each in getattr(route, "route_handlers", ())
        if each.opt.get("is_cut") and NEEDS.get(each.opt["access"]) != READ_ROLE
    ]

    assert limited == []
