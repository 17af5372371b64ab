"""The graph around a dataset as a picture: where each box stands, and each line goes."""

from collections.abc import Iterable, Iterator

import msgspec

from service.answers.shapes import Lineage, Node
from service.explorer.layers import layered

HOPS = 2
MOST_DRAWN = 60
_GRAVITY = ("bad", "unknown", "learning", "good")
_WIDTH, _HEIGHT = 190, 38
_ACROSS, _DOWN, _MARGIN = 70, 14, 8
_MOST_LETTERS = 24

Name = tuple[str, str]  # namespace, name


class Box(msgspec.Struct, frozen=True):
    """A dataset in the picture. `label` is its name's end, where that is long."""

    dataset_namespace: str
    dataset: str
    state: str
    label: str
    is_centre: bool
    hidden: int
    x: int
    y: int


class Line(msgspec.Struct, frozen=True):
    """An edge, as the path of an SVG; `is_back`: against the direction of all others."""

    path: str
    jobs: list[str]
    is_back: bool


class Picture(msgspec.Struct, frozen=True):
    """All of it; `cut` says what was left out."""

    width: int
    height: int
    boxes: list[Box]
    lines: list[Line]
    cut: str | None

    box_width: int = _WIDTH
    box_height: int = _HEIGHT


class _Found(msgspec.Struct):
    """What the two trees name: each dataset's state, its steps from here, what hides beside it."""

    states: dict[Name, str]
    distances: dict[Name, int]
    hidden: dict[Name, int]
    edges: dict[tuple[Name, Name], list[str]]  # jobs by (from, to)


def picture(lineage: Lineage) -> Picture:
    """Both trees as one graph; of many datasets the nearest, and of these the gravest."""
    found = _found(lineage)
    ranked = sorted(found.states, key=lambda name: _rank(found, name))
    drawn = ranked[:MOST_DRAWN]
    placed = _placed(layered(drawn, found.edges))
    is_cut = len(ranked) > len(drawn)
    cuts = [f"{len(drawn)} of {len(ranked):,} datasets are drawn"] if is_cut else []
    cuts += [lineage.partial_reason] if lineage.partial_reason else []
    centre = (lineage.dataset_namespace, lineage.dataset)
    return Picture(
        width=max(x for x, _ in placed.values()) + _WIDTH + _MARGIN,
        height=max(y for _, y in placed.values()) + _HEIGHT + _MARGIN,
        boxes=[_box(found, name, placed[name], is_centre=name == centre) for name in drawn],
        lines=list(_lines(found, placed)),
        cut="; ".join(cuts) or None,
    )


def _found(lineage: Lineage) -> _Found:
    centre = (lineage.dataset_namespace, lineage.dataset)
    hidden = lineage.hidden_upstream + lineage.hidden_downstream
    found = _Found({centre: lineage.state}, {centre: 0}, {centre: hidden}, {})
    for tree, is_up in ((lineage.upstream, True), (lineage.downstream, False)):
        for above, node, distance in _nodes(centre, tree, 1):
            name = (node.dataset_namespace, node.dataset)
            found.states.setdefault(name, node.state)
            found.distances[name] = min(distance, found.distances.get(name, distance))
            found.hidden[name] = max(node.hidden, found.hidden.get(name, 0))
            found.edges[(name, above) if is_up else (above, name)] = node.job_names
    return found


def _nodes(above: Name, nodes: Iterable[Node], distance: int) -> Iterator[tuple[Name, Node, int]]:
    for node in nodes:
        yield above, node, distance
        yield from _nodes((node.dataset_namespace, node.dataset), node.children, distance + 1)


def _rank(found: _Found, name: Name) -> tuple[int, int, Name]:
    return found.distances[name], _GRAVITY.index(found.states[name]), name


def _placed(layers: list[list[Name]]) -> dict[Name, tuple[int, int]]:
    """The upper left corner of each box; shorter layers stand in the middle of the longest."""
    tallest = max(map(len, layers))
    placed = {}
    for column, layer in enumerate(layers):
        top = (tallest - len(layer)) * (_HEIGHT + _DOWN) // 2
        for row, name in enumerate(layer):
            x = _MARGIN + column * (_WIDTH + _ACROSS)
            placed[name] = (x, _MARGIN + top + row * (_HEIGHT + _DOWN))
    return placed


def _box(found: _Found, name: Name, at: tuple[int, int], *, is_centre: bool) -> Box:
    label = name[1] if len(name[1]) <= _MOST_LETTERS else f"…{name[1][1 - _MOST_LETTERS :]}"
    return Box(*name, found.states[name], label, is_centre, found.hidden[name], *at)


def _lines(found: _Found, placed: dict[Name, tuple[int, int]]) -> Iterator[Line]:
    for (start, end), jobs in found.edges.items():
        if start in placed and end in placed:
            (left, top), (right, bottom) = placed[start], placed[end]
            is_back = right <= left
            yield Line(_path(left, top, right, bottom, is_back=is_back), jobs, is_back)


def _path(left: int, top: int, right: int, bottom: int, *, is_back: bool) -> str:
    """From the right side of a box to the left side of another; back around both."""
    x1, y1 = left + _WIDTH, top + _HEIGHT // 2
    x2, y2 = right, bottom + _HEIGHT // 2
    bend = _ACROSS if is_back else max(_ACROSS // 2, (x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 2} {y2}"
