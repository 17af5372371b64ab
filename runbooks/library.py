"""Runbook pages: one for each alert and each kind of fault, and shared parts."""

from functools import cache
from importlib.resources import files
from typing import Final

from alerts.root_cause.kinds import FAULT_KINDS
from alerts.rules.rule_file import alert_names
from lineage.errors import RequestError

RUNBOOKS_PATH: Final = "/runbooks"  # below which they are served: alerts and messages link there
SHARED: Final = ("asking", "burn-rates", "escalating", "pods", "restoring")
_SUFFIX: Final = ".md"


class UnknownPageError(RequestError):
    """Error: no page has that name."""

    exit_code = 3
    status = 404
    title = "Unknown runbook"


def alert_pages() -> list[str]:
    """Return names of the pages of alerts: the alerts' own."""
    return alert_names()


def kind_pages() -> list[str]:
    """Return names of the pages of faults: the ids of their kinds.

    `waiting` is no root, and is what stands in its place where the root is not known.
    """
    return sorted(kind.id for kind in FAULT_KINDS)


@cache
def page_names() -> frozenset[str]:
    """Return the names of all pages."""
    folder = files(__package__) / "pages"
    found = (entry.name for entry in folder.iterdir())
    return frozenset(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))


@cache
def page_markdown(name: str) -> str:
    """Return a page, as Markdown.

    Raises:
        UnknownPageError: there is none of that name; no text leads to another file.
    """
    if name not in page_names():
        raise UnknownPageError(
            f"no runbook is called {name[:80]!r}: `lineward runbook` and {RUNBOOKS_PATH}/ list them"
        )
    return (files(__package__) / "pages" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def index_pages() -> list[tuple[str, list[str]]]:
    """Return the names of all pages, below their headings."""
    return [
        ("Alerts", alert_pages()),
        ("Faults", kind_pages()),
        ("For all of them", list(SHARED)),
    ]


@cache
def index_markdown() -> str:
    """Return the list of pages, as Markdown."""
    return "\n\n".join(["# Runbooks", *(_listed(*each) for each in index_pages())])


def _listed(title: str, names: list[str]) -> str:
    lines = "\n".join(f"- [{name}]({RUNBOOKS_PATH}/{name})" for name in names)
    return f"## {title}\n\n{lines}"
