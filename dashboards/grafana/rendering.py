"""Dashboards of a policy as JSON: the same policy and address give the same bytes."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from dashboards.grafana.building import place_panel
from dashboards.grafana.debug import debug_dashboard
from dashboards.grafana.executive import executive_dashboard
from dashboards.grafana.on_call import on_call_dashboard
from dashboards.grafana.sdk import dashboard as sdk
from dashboards.grafana.sdk import models
from dashboards.grafana.spec import Board, Panel, objective_query
from dashboards.grafana.surroundings import annotations, dashboard_variables, onward
from lineage.policy.model import Policy

WIDTH = 24

DEFAULT_URL: Final = "http://127.0.0.1:8701"
_TAG: Final = "lineward"


def place(panels: Iterable[Panel], top: int) -> Iterator[tuple[Panel, int, int]]:
    """Yield each panel with its x and y; a line is as high as its highest panel."""
    left, height = 0, 0
    for panel in panels:
        if left + panel.width > WIDTH:
            left, top, height = 0, top + height, 0
        yield panel, left, top
        left, height = left + panel.width, max(height, panel.height)


def below(panels: Iterable[Panel], top: int) -> int:
    """Return the first free line."""
    return max((y + panel.height for panel, _, y in place(panels, top)), default=top)


def boards(policy: Policy) -> tuple[Board, ...]:
    """Return the dashboards, in reading order."""
    return executive_dashboard(objective_query(policy)), on_call_dashboard(), debug_dashboard()


def render_document(policy: Policy, url: str = DEFAULT_URL) -> dict[str, str]:
    """Return JSON by uid, as Grafana 11 and newer read it.

    Args:
        policy: its objectives are the thresholds.
        url: of Lineward's pages, as readers reach them.
    """
    return {board.uid: as_json(_dashboard(board, url).build()) for board in boards(policy)}


def as_json(document: Any) -> str:  # noqa: ANN401 - the SDK's models
    """Return JSON with sorted keys, so that a diff shows only what changed."""
    made = json.loads(json.dumps(document, cls=JSONEncoder), object_hook=_placed_as_usual)
    return json.dumps(made, sort_keys=True, indent=2) + "\n"


def _placed_as_usual(found: dict[str, Any]) -> dict[str, Any]:
    """Show links and annotations directly; the SDK puts them into a closed menu."""
    found.pop("placement", None)
    return found


def _dashboard(board: Board, url: str) -> sdk.Dashboard:
    made = sdk.Dashboard(board.title).uid(board.uid).description(board.description)
    made.tags([_TAG]).timezone("browser").refresh(board.refresh).time(board.since, "now")
    made.tooltip(models.DashboardCursorSync.CROSSHAIR).readonly()
    made.variables(list(dashboard_variables(url, single=board.single)))
    made.annotations(list(annotations())).links(list(onward(board.uid)))
    _fill(made, board)
    return made


def _fill(made: sdk.Dashboard, board: Board) -> None:
    number, top = 1, 0
    for row in board.rows:
        heading = sdk.Row(row.title).id(number)
        made.with_row(heading.grid_pos(models.GridPos(h=1, w=24, x=0, y=top)))
        number, top = number + 1, top + 1
        for panel, x, y in place(row.panels, top):
            made.with_panel(place_panel(panel, number, x, y))
            number += 1
        top = below(row.panels, top)
