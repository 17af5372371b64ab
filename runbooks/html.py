"""Markdown as a page for a browser, a phone's too: no scripts, no raw HTML, nothing fetched."""

import base64
import hashlib
import re
from functools import cache
from html import escape
from re import Match
from typing import Final

from markdown_it import MarkdownIt

from runbooks.library import RUNBOOKS_PATH, index_markdown, page_markdown

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 1.75rem; }
a { color: LinkText; } a, code { overflow-wrap: anywhere; }
pre { padding: .75rem; border: 1px solid GrayText; border-radius: .375rem; }
pre code { white-space: pre-wrap; } code { font: .875rem/1.4 ui-monospace, monospace; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { border: 1px solid GrayText; padding: .375rem .5rem; text-align: left; }
nav { font-size: .875rem; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# The one style is ours, by its hash; all else is rejected, and nobody frames or redirects it.
RUNBOOK_CONTENT_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
_BLOCK: Final = re.compile(r"<pre>.*?</pre>\n?", re.DOTALL)
_ACT: Final = re.compile(r"(?m)^(?:.*<code[^>]*>)?lineward act (?!.*--yes)")
_DRY_RUN: Final = "<p>This is a dry run: it prints the plan, and changes nothing.</p>\n"
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


@cache
def page_html(name: str) -> str:
    """Return one page.

    Raises:
        UnknownPageError: there is none of that name.
    """
    return _document(name, page_markdown(name))


@cache
def index_html() -> str:
    """Return the list of all pages."""
    return _document("Runbooks", index_markdown())


def _document(title: str, text: str) -> str:
    # A link of one page to another is its bare name, and leads below the same path.
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<nav><a href="/">Lineward</a> · <a href="{RUNBOOKS_PATH}/">Runbooks</a></nav>
<main>
{markdown_page(text)}</main>
</body>
</html>
"""


def markdown_page(text: str) -> str:
    """Return Markdown as HTML; markup inside it is text.

    Below a block with `lineward act` and no `--yes` stands that this is a dry run.
    """
    return _BLOCK.sub(_with_dry_run, str(_markdown.render(text)))


def _with_dry_run(block: Match[str]) -> str:
    return block[0] + _DRY_RUN if _ACT.search(block[0]) else block[0]
