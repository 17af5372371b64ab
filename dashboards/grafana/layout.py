"""Layout of panels: side by side as long as there is room, rows below one another."""

from collections.abc import Iterable, Iterator

from dashboards.grafana.spec import Panel

WIDTH = 24


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
