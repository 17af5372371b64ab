"""A template and a view make a page; the headers that every page has."""

import base64
import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.answers.columns import describe
from service.explorer import addresses, words

_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "style.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# The one style is ours, by its hash; the icon is in the page; forms go to us alone.
CONTENT_SECURITY_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)

PAGE_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # Our own forms say where they come from, and nobody else hears it.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: words.NOTHING if value is None else value,
    )
    for module in (addresses, words):
        told = {name: each for name, each in vars(module).items() if name[0] != "_"}
        made.globals |= {name: each for name, each in told.items() if callable(each)}
    made.globals |= {"style": _STYLE, "describe_transformation": describe}
    return made


_templates = _environment()


def drawn(
    template: str,
    now: datetime,
    who: str | None = None,
    **view: Any,  # noqa: ANN401 - each template's own
) -> str:
    """The page; `now` is what `ago` counts from, `who` is signed in."""
    here = {"now": now, "now_text": now.isoformat(), "who": who}
    return _templates.get_template(f"{template}.html").render(**here, **view)
