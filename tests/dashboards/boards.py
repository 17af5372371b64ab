"""Committed dashboards and their parts."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import dashboards.grafana
from dashboards.grafana.rendering import WIDTH

GENERATED = Path(dashboards.grafana.__file__).parent / "generated"
UIDS = ("lineward-executive", "lineward-on-call", "lineward-debug")


def board(uid: str) -> dict[str, Any]:
    """Return a dashboard as Grafana reads it."""
    return dict(json.loads((GENERATED / f"{uid}.json").read_text("utf-8")))


def panels(uid: str) -> list[dict[str, Any]]:
    """Return its panels without headings."""
    return [panel for panel in board(uid)["panels"] if panel["type"] != "row"]


def every_panel() -> list[tuple[str, dict[str, Any]]]:
    """Return (uid, panel) of all three dashboards."""
    return [(uid, panel) for uid in UIDS for panel in panels(uid)]


def data_links(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the links of all its fields, and of fields with links of their own."""
    of_fields = [
        link
        for override in panel["fieldConfig"]["overrides"]
        for one in override["properties"]
        if one["id"] == "links"
        for link in one["value"]
    ]
    return [*panel["fieldConfig"]["defaults"].get("links", []), *of_fields]


def unit(panel: dict[str, Any]) -> str:
    """Return the unit of a panel, at the place for its kind."""
    if panel["type"] == "heatmap":
        return str(panel["options"]["yAxis"].get("unit", ""))
    return str(panel["fieldConfig"]["defaults"].get("unit", ""))


def find_problems(document: dict[str, Any]) -> list[str]:
    """Return what is wrong: overlapping panels, missing texts, dead links."""
    every = document["panels"]
    ids = Counter(panel["id"] for panel in every)
    cells = Counter(cell for panel in every for cell in _cells(panel["gridPos"]))
    found = [f"two panels have the id {number}" for number, count in ids.items() if count > 1]
    found += [f"two panels cover {cell}" for cell, count in cells.items() if count > 1][:1]
    found += ["a panel leaves the grid"] if max(x for x, _ in cells) >= WIDTH else []
    return found + [word for panel in every if panel["type"] != "row" for word in _lacks(panel)]


def _cells(place: dict[str, int]) -> list[tuple[int, int]]:
    across = range(place["x"], place["x"] + place["w"])
    return [(x, y) for x in across for y in range(place["y"], place["y"] + place["h"])]


def _lacks(panel: dict[str, Any]) -> list[str]:
    defaults = panel["fieldConfig"]["defaults"]
    grey = [one["options"]["result"].get("color") for one in defaults.get("mappings", [])]
    words = {
        "unit": bool(unit(panel)),
        "description": len(panel.get("description", "")) > 40 and panel["description"][-1] == ".",
        "word for no sample": not re.search(r"^$|\d", defaults.get("noValue", "")),
        "grey for no sample": grey == ["gray"],
        "question": bool(panel["targets"]),
        "link": bool(panel["links"]),
        "dashboard behind a link": all(
            re.split(r"[/?]", link["url"])[2] in UIDS
            for link in [*panel["links"], *data_links(panel)]
            if link["url"].startswith("/d/")
        ),
    }
    return [f"{panel['title']}: no {word}" for word, is_there in words.items() if not is_there]
