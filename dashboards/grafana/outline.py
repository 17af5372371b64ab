"""Dashboards as text: rows, panels and what they ask, out of their JSON."""

import json
from collections.abc import Iterator
from typing import Any


def outlines(dashboards: dict[str, str]) -> str:
    """Markdown of all, out of JSON by uid."""
    return "\n".join(outline(json.loads(text)) for text in dashboards.values())


def outline(dashboard: dict[str, Any]) -> str:
    """Markdown of one dashboard."""
    return "\n".join(_lines(dashboard)) + "\n"


def _lines(dashboard: dict[str, Any]) -> Iterator[str]:
    yield f"## {dashboard['title']}"
    yield ""
    yield f"`{dashboard['uid']}`. {dashboard['description']}"
    for panel in dashboard["panels"]:
        yield from _row(panel) if panel["type"] == "row" else _panel(panel)


def _row(row: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield f"### {row['title']}"
    yield ""


def _panel(panel: dict[str, Any]) -> Iterator[str]:
    unit = panel["fieldConfig"]["defaults"]["unit"]
    yield f"- **{panel['title']}** ({panel['type']}, {unit}): {panel['description']}"
    for target in panel["targets"]:
        asked = target["expr"] if "expr" in target else f"GET {target['url']}"
        yield f"  - `{asked}`"
