"""A layered layout of a small graph, left to right (Sugiyama's four steps, each the plain one).

Cycles are opened by ignoring the edges that a depth-first walk finds to lead back; a layer is the
longest way to a node; within a layer, nodes stand near the middle of their neighbours.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)
_SWEEPS = 4
Edges = Iterable[tuple[_Node, _Node]]


def layered(nodes: Sequence[_Node], edges: Edges[_Node]) -> list[list[_Node]]:
    """The nodes of each layer from the left, in their order from above.

    Args:
        nodes: each once; their order decides where nothing else does.
        edges: from left to right as far as cycles allow; those of other nodes are left out.
    """
    known = dict.fromkeys(nodes)
    wanted = [edge for edge in edges if edge[0] in known and edge[1] in known]
    after = _acyclic(nodes, wanted)
    depth = _depths(nodes, after)
    layers: list[list[_Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    return _ordered(layers, wanted)


def _acyclic(nodes: Sequence[_Node], edges: Edges[_Node]) -> dict[_Node, list[_Node]]:
    """What follows each node, without the edges that close a cycle."""
    given: dict[_Node, list[_Node]] = {node: [] for node in nodes}
    for start, end in edges:
        given[start].append(end)
    kept: dict[_Node, list[_Node]] = {node: [] for node in nodes}
    done: set[_Node] = set()
    for root in nodes:
        if root not in done:
            _walk(root, given, kept, done)
    return kept


def _walk(
    root: _Node,
    given: Mapping[_Node, list[_Node]],
    kept: Mapping[_Node, list[_Node]],
    done: set[_Node],
) -> None:
    on_way = {root: iter(given[root])}  # in the order of the way
    while on_way:
        node = next(reversed(on_way))
        following = next(on_way[node], None)
        if following is None:
            del on_way[node]
            done.add(node)
        elif following not in on_way:
            kept[node].append(following)
            if following not in done:
                on_way[following] = iter(given[following])


def _depths(nodes: Sequence[_Node], after: Mapping[_Node, list[_Node]]) -> dict[_Node, int]:
    """The longest way to each; then what begins nowhere moves right, next to what it feeds."""
    waiting = dict.fromkeys(nodes, 0)
    for each in after.values():
        for node in each:
            waiting[node] += 1
    depth = dict.fromkeys(nodes, 0)
    order = [node for node in nodes if not waiting[node]]
    for node in order:
        for following in after[node]:
            depth[following] = max(depth[following], depth[node] + 1)
            waiting[following] -= 1
            if not waiting[following]:
                order.append(following)
    fed = {node for each in after.values() for node in each}
    for node in reversed(order):
        if node not in fed and after[node]:
            depth[node] = min(depth[following] for following in after[node]) - 1
    return depth


def _ordered(layers: list[list[_Node]], edges: Edges[_Node]) -> list[list[_Node]]:
    """Sweeps to the right and back: each node to the mean height of its neighbours."""
    beside: dict[_Node, list[_Node]] = {}
    for start, end in edges:
        beside.setdefault(start, []).append(end)
        beside.setdefault(end, []).append(start)
    height = {node: _spread(at, layer) for layer in layers for at, node in enumerate(layer)}
    for turn in range(_SWEEPS):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            near = {node: _mean([height[each] for each in beside.get(node, ())]) for node in layer}
            pull = {node: height[node] if near[node] is None else near[node] for node in layer}
            layer.sort(key=lambda node, pull=pull: pull[node])  # type: ignore[misc]
            height |= {node: _spread(at, layer) for at, node in enumerate(layer)}
    return layers


def _spread(at: int, layer: Sequence[_Node]) -> float:
    """A height from -1 to 1, whatever the number of nodes in the layer."""
    return (2 * at + 1) / len(layer) - 1


def _mean(heights: Sequence[float]) -> float | None:
    return sum(heights) / len(heights) if heights else None
