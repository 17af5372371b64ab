"""The graph around a dataset as a picture: where each box stands, and each line goes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from lineage.catalog.reader import Reader
from lineage.keys import key
from service.answers.edge_origins import ORIGIN_WORDS, edge_origins
from service.answers.shapes import Lineage, Node
from service.answers.walk import Name, edges_between
from service.explorer.layers import layered

HOPS = 2
MOST_BESIDE = 12  # one another: of one step in one direction
_GRAVITY = ("bad", "failing", "unknown", "learning", "good")
_WIDTH, _HEIGHT = 190, 38
_ACROSS, _DOWN, _MARGIN = 70, 14, 8
_MOST_LETTERS = 24

_PARTS = re.compile(r"[.:](?=.{7})|(?=/.{7})")  # where a part begins that tells enough

Edge = tuple[Name, Name, str]  # upstream, downstream, job


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
    origin: str | None = None  # in words, as `Node.origin`


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
    """What the two trees name: each dataset's state, and how many hide beside it."""

    states: dict[Name, str]
    hidden: dict[Name, int]
    edges: dict[tuple[Name, Name], list[str]]  # jobs by (from, to)


def among(reader: Reader, names: Iterable[Name]) -> Iterator[Edge]:
    """All that runs between these datasets: trees have only what leads to their root."""
    by_key = {key(*name): name for name in names}
    for up, down, _, job, *_ in edges_between(reader, by_key):
        if up != down:
            yield by_key[up], by_key[down], job


def origins_among(reader: Reader, names: Iterable[Name]) -> dict[tuple[Name, Name], str]:
    """Return the origin of each edge between these datasets that inputs do not name, in words."""
    by_key = {key(*name): name for name in names}
    return {
        (by_key[up], by_key[down]): ORIGIN_WORDS[origin]
        for (up, down), origin in edge_origins(reader, by_key).items()
        if up in by_key
    }


def picture(
    lineage: Lineage,
    edges: Iterable[Edge] = (),
    origins: Mapping[tuple[Name, Name], str] = MappingProxyType({}),
) -> Picture:
    """Both trees as one graph; of many datasets at one step the gravest.

    Args:
        lineage: the trees.
        edges: others between the datasets that are `drawn` of it.
        origins: of edges between these, as `origins_among` has them.
    """
    found = _found(lineage)
    boxes = drawn(lineage)
    for up, down, job in edges:
        jobs = found.edges.setdefault((up, down), [])
        if job and job not in jobs:  # no job makes what was declared
            jobs.append(job)
    placed = _placed(layered(boxes, found.edges))
    every = len(found.states)
    cuts = [f"{len(boxes)} of {every:,} datasets are drawn"] if len(boxes) < every else []
    cuts += [lineage.partial_reason] if lineage.partial_reason else []
    centre = (lineage.dataset_namespace, lineage.dataset)
    return Picture(
        width=max(x for x, _ in placed.values()) + _WIDTH + _MARGIN,
        height=max(y for _, y in placed.values()) + _HEIGHT + _MARGIN,
        boxes=[_box(found, name, placed[name], is_centre=name == centre) for name in boxes],
        lines=list(_lines(found, placed, origins)),
        cut="; ".join(cuts) or None,
    )


def _found(lineage: Lineage) -> _Found:
    centre = (lineage.dataset_namespace, lineage.dataset)
    hidden = lineage.hidden_upstream + lineage.hidden_downstream
    found = _Found({centre: lineage.state}, {centre: hidden}, {})
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


def drawn(lineage: Lineage) -> list[Name]:
    """What there is room for: of each step the gravest, of what hangs on those before it."""
    taken = {(lineage.dataset_namespace, lineage.dataset): None}
    for level in (lineage.upstream, lineage.downstream):
        while level:
            fresh = {_name(node): node for node in level if _name(node) not in taken}
            gravest = sorted(fresh.values(), key=_rank)[:MOST_BESIDE]
            taken |= dict.fromkeys(map(_name, gravest))
            level = [child for node in gravest for child in node.children]  # noqa: PLW2901 - next
    return list(taken)


def _name(node: Node) -> Name:
    return node.dataset_namespace, node.dataset


def _rank(node: Node) -> tuple[int, Name]:
    return _GRAVITY.index(node.state), _name(node)


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
    return Box(*name, found.states[name], _label(name[1]), is_centre, found.hidden[name], *at)


def _label(name: str) -> str:
    """As many of its last parts as there is room for; where there is room for none, its end."""
    if len(name) <= _MOST_LETTERS:
        return name
    end = name[1 - _MOST_LETTERS :]
    part = _PARTS.search(end)
    return f"…{end[part.end() :] if part else end}"


def _lines(
    found: _Found,
    placed: dict[Name, tuple[int, int]],
    origins: Mapping[tuple[Name, Name], str],
) -> Iterator[Line]:
    for (start, end), jobs in found.edges.items():
        if start in placed and end in placed:
            (left, top), (right, bottom) = placed[start], placed[end]
            is_back = right <= left
            path = _path(left, top, right, bottom, is_back=is_back)
            yield Line(path, jobs, is_back, origins.get((start, end)))


def _path(left: int, top: int, right: int, bottom: int, *, is_back: bool) -> str:
    """From the right side of a box to the left side of another; back around both."""
    x1, y1 = left + _WIDTH, top + _HEIGHT // 2
    x2, y2 = right, bottom + _HEIGHT // 2
    bend = _ACROSS if is_back else max(_ACROSS // 2, (x2 - x1) // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 2} {y2}"
