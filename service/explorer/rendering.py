"""Rendering of pages, and the headers of every page."""

import base64
import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from alerts.incidents.incident_text import event_text, unknown_root_reason
from service.explorer import addresses, formatting
from service.queries.columns import describe_transformation

_FOLDER: Final = Path(__file__).parent
_STYLE: Final = (_FOLDER / "style.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# Only our own style sheet (by its hash), an inline icon, and forms sent to this service.
EXPLORER_CONTENT_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)

PAGE_HEADERS: Final = {
    "Content-Security-Policy": EXPLORER_CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    # Our own forms send their origin; other sites receive no referrer.
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
        finalize=lambda value: formatting.NOTHING if value is None else value,
    )
    for module in (addresses, formatting):
        public = {name: each for name, each in vars(module).items() if name[0] != "_"}
        made.globals |= {name: each for name, each in public.items() if callable(each)}
    made.globals |= {"style": _STYLE, "describe_transformation": describe_transformation}
    made.globals |= {"unknown_root_reason": unknown_root_reason, "event_text": event_text}
    return made


_templates = _environment()


def render_page(
    template: str,
    now: datetime,
    who: str | None = None,
    **view: Any,  # noqa: ANN401 - each template's own
) -> str:
    """Render a page; `ago` counts from `now`, and `who` is signed in."""
    here = {"now": now, "now_text": now.isoformat(), "who": who}
    return _templates.get_template(f"{template}.html").render(**here, **view)
