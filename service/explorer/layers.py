"""Layered layout of a small graph, left to right (the four steps of Sugiyama, in simple form).

Edges that a depth-first walk finds to lead back are ignored, which opens cycles. The layer of a
node is its longest path from a source. Within a layer, nodes stand near their neighbours.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)
_SWEEPS = 4
_Edges = Iterable[tuple[_Node, _Node]]


def assign_layers(nodes: Sequence[_Node], edges: _Edges[_Node]) -> list[list[_Node]]:
    """Return the nodes of each layer from the left, in their order from above.

    Args:
        nodes: unique; their order breaks ties.
        edges: from left to right; edges of other nodes are ignored.
    """
    known = dict.fromkeys(nodes)
    known_edges = [edge for edge in edges if edge[0] in known and edge[1] in known]
    after = _acyclic(nodes, known_edges)
    depth = _depths(nodes, after)
    layers: list[list[_Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    return _ordered(layers, known_edges)


def _acyclic(nodes: Sequence[_Node], edges: _Edges[_Node]) -> dict[_Node, list[_Node]]:
    """Return the successors of each node, without the edges that close a cycle."""
    successors: dict[_Node, list[_Node]] = {node: [] for node in nodes}
    for start, end in edges:
        successors[start].append(end)
    kept: dict[_Node, list[_Node]] = {node: [] for node in nodes}
    done: set[_Node] = set()
    for root in nodes:
        if root not in done:
            _walk(root, successors, kept, done)
    return kept


def _walk(
    root: _Node,
    successors: Mapping[_Node, list[_Node]],
    kept: Mapping[_Node, list[_Node]],
    done: set[_Node],
) -> None:
    on_path = {root: iter(successors[root])}  # in the order of the path
    while on_path:
        node = next(reversed(on_path))
        following = next(on_path[node], None)
        if following is None:
            del on_path[node]
            done.add(node)
        elif following not in on_path:
            kept[node].append(following)
            if following not in done:
                on_path[following] = iter(successors[following])


def _depths(nodes: Sequence[_Node], after: Mapping[_Node, list[_Node]]) -> dict[_Node, int]:
    """Return the longest path to each node; sources move right, next to their successors."""
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


def _ordered(layers: list[list[_Node]], edges: _Edges[_Node]) -> list[list[_Node]]:
    """Sort each layer by the mean height of neighbours, in sweeps to the right and back."""
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
    """Return a height from -1 to 1 for a position in a layer."""
    return (2 * at + 1) / len(layer) - 1


def _mean(heights: Sequence[float]) -> float | None:
    return sum(heights) / len(heights) if heights else None
