"""The dashboards as they are committed, and their parts."""

import json
from pathlib import Path
from typing import Any

import dashboards.grafana

GENERATED = Path(dashboards.grafana.__file__).parent / "generated"
UIDS = ("lineward-executive", "lineward-on-call", "lineward-debug")


def board(uid: str) -> dict[str, Any]:
    """One, as Grafana reads it."""
    return dict(json.loads((GENERATED / f"{uid}.json").read_text("utf-8")))


def panels(uid: str) -> list[dict[str, Any]]:
    """Without the headings."""
    return [panel for panel in board(uid)["panels"] if panel["type"] != "row"]


def every_panel() -> list[tuple[str, dict[str, Any]]]:
    """(uid, panel) of all three."""
    return [(uid, panel) for uid in UIDS for panel in panels(uid)]
