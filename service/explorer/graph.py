"""Picture of the graph around a dataset: positions of boxes and lines."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.names.keys import key
from lineage.names.names import Name
from service.explorer.layers import assign_layers
from service.queries.lineage import ORIGIN_WORDS, edge_origins
from service.queries.shapes import Lineage, Node
from service.queries.walk import edges_between

HOPS = 2
MOST_BESIDE = 12  # at one hop in one direction
_BY_SEVERITY = ("bad", "failing", "unknown", "learning", "good")
_WIDTH, _HEIGHT = 190, 38
_ACROSS, _DOWN, _MARGIN = 70, 14, 8
_MOST_LETTERS = 24

_PARTS = re.compile(r"[.:](?=.{7})|(?=/.{7})")  # start of a part with enough characters

_Edge = tuple[Name, Name, str]  # upstream, downstream, job


class Box(msgspec.Struct, frozen=True):
    """Dataset in the picture; `label` is the end of a long name."""

    dataset_namespace: str
    dataset: str
    state: str
    label: str
    is_centre: bool
    hidden: int
    x: int
    y: int


class GraphLine(msgspec.Struct, frozen=True):
    """Edge, as the path of an SVG; `is_back` edges point from right to left."""

    path: str
    jobs: list[str]
    is_back: bool
    origin: str | None = None  # in words, as `Node.origin`


class Picture(msgspec.Struct, frozen=True):
    """Whole picture; `cut` says what was left out."""

    width: int
    height: int
    boxes: list[Box]
    lines: list[GraphLine]
    cut: str | None

    box_width: int = _WIDTH
    box_height: int = _HEIGHT


class _Graph(msgspec.Struct):
    """Datasets of both trees: states, numbers of hidden neighbours, edges."""

    states: dict[Name, str]
    hidden: dict[Name, int]
    edges: dict[tuple[Name, Name], list[str]]  # jobs by (from, to)


def edges_among(reader: CatalogReader, names: Iterable[Name]) -> Iterator[_Edge]:
    """Return all edges between these datasets; trees have only those that lead to the root."""
    by_key = {key(*name): name for name in names}
    for row in edges_between(reader, by_key):
        if row.upstream_key != row.downstream_key:
            yield by_key[row.upstream_key], by_key[row.downstream_key], row.job_name


def origins_among(reader: CatalogReader, names: Iterable[Name]) -> dict[tuple[Name, Name], str]:
    """Return the origins of edges that no input reported, in words."""
    by_key = {key(*name): name for name in names}
    return {
        (by_key[up], by_key[down]): ORIGIN_WORDS[origin]
        for (up, down), origin in edge_origins(reader, by_key).items()
        if up in by_key
    }


def draw_trees(
    lineage: Lineage,
    edges: Iterable[_Edge] = (),
    origins: Mapping[tuple[Name, Name], str] = MappingProxyType({}),
) -> Picture:
    """Draw both trees as one graph, with the most severe datasets of each hop.

    Args:
        lineage: the trees.
        edges: further edges between the `drawn` datasets.
        origins: origins of edges, from `origins_among`.
    """
    found = _read_trees(lineage)
    boxes = datasets_to_draw(lineage)
    for up, down, job in edges:
        jobs = found.edges.setdefault((up, down), [])
        if job and job not in jobs:  # declared edges have no job
            jobs.append(job)
    placed = _placed(assign_layers(boxes, found.edges))
    every = len(found.states)
    cuts = [f"{len(boxes)} of {every:,} datasets shown"] if len(boxes) < every else []
    cuts += [lineage.partial_reason] if lineage.partial_reason else []
    centre = (lineage.dataset_namespace, lineage.dataset)
    return Picture(
        width=max(x for x, _ in placed.values()) + _WIDTH + _MARGIN,
        height=max(y for _, y in placed.values()) + _HEIGHT + _MARGIN,
        boxes=[_box(found, name, placed[name], is_centre=name == centre) for name in boxes],
        lines=list(_lines(found, placed, origins)),
        cut="; ".join(cuts) or None,
    )


def _read_trees(lineage: Lineage) -> _Graph:
    centre = (lineage.dataset_namespace, lineage.dataset)
    hidden = lineage.hidden_upstream + lineage.hidden_downstream
    found = _Graph({centre: lineage.state}, {centre: hidden}, {})
    for tree, is_up in ((lineage.upstream, True), (lineage.downstream, False)):
        for above, node in _nodes(centre, tree):
            name = _name(node)
            found.states.setdefault(name, node.state)
            found.hidden[name] = max(node.hidden, found.hidden.get(name, 0))
            found.edges[(name, above) if is_up else (above, name)] = [*node.job_names]
    return found


def _nodes(above: Name, nodes: Iterable[Node]) -> Iterator[tuple[Name, Node]]:
    for node in nodes:
        yield above, node
        yield from _nodes(_name(node), node.children)


def datasets_to_draw(lineage: Lineage) -> list[Name]:
    """Return the datasets to draw: the most severe of each hop that connect to those before."""
    taken = {(lineage.dataset_namespace, lineage.dataset): None}
    for level in (lineage.upstream, lineage.downstream):
        while level:
            fresh = {_name(node): node for node in level if _name(node) not in taken}
            most_severe = sorted(fresh.values(), key=_rank)[:MOST_BESIDE]
            taken |= dict.fromkeys(map(_name, most_severe))
            level = [child for node in most_severe for child in node.children]  # noqa: PLW2901 - next
    return list(taken)


def _name(node: Node) -> Name:
    return node.dataset_namespace, node.dataset


def _rank(node: Node) -> tuple[int, Name]:
    return _BY_SEVERITY.index(node.state), _name(node)


def _placed(layers: list[list[Name]]) -> dict[Name, tuple[int, int]]:
    """Return the upper left corner of each box; shorter layers are centred."""
    tallest = max(map(len, layers))
    placed = {}
    for column, layer in enumerate(layers):
        top = (tallest - len(layer)) * (_HEIGHT + _DOWN) // 2
        for row, name in enumerate(layer):
            x = _MARGIN + column * (_WIDTH + _ACROSS)
            placed[name] = (x, _MARGIN + top + row * (_HEIGHT + _DOWN))
    return placed


def _box(found: _Graph, name: Name, at: tuple[int, int], *, is_centre: bool) -> Box:
    return Box(*name, found.states[name], _label(name[1]), is_centre, found.hidden[name], *at)


def _label(name: str) -> str:
    """Shorten a name to its last parts, or to its end if no part fits."""
    if len(name) <= _MOST_LETTERS:
        return name
    end = name[1 - _MOST_LETTERS :]
    part = _PARTS.search(end)
    return f"…{end[part.end() :] if part else end}"


def _lines(
    found: _Graph,
    placed: dict[Name, tuple[int, int]],
    origins: Mapping[tuple[Name, Name], str],
) -> Iterator[GraphLine]:
    for (start, end), jobs in found.edges.items():
        if start in placed and end in placed:
            (left, top), (right, bottom) = placed[start], placed[end]
            is_back = right <= left
            path = _path(left, top, right, bottom, is_back=is_back)
            yield GraphLine(path, jobs, is_back, origins.get((start, end)))


def _path(left: int, top: int, right: int, bottom: int, *, is_back: bool) -> str:
    """Return a path from the right side of one box to the left side of another."""
    x1, y1 = left + _WIDTH, top + _HEIGHT // 2
    x2, y2 = right, bottom + _HEIGHT // 2
    bend = _ACROSS if is_back else max(_ACROSS // 2, (x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 2} {y2}"
