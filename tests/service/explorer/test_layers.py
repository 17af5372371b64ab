"""Layers of the boxes of a graph."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from service.explorer import layers
from service.explorer.layers import assign_layers


def test_one_node_is_one_layer():
    """Assign one layer, and none to an empty graph."""
    assert assign_layers(["a"], []) == [["a"]]
    assert assign_layers([], []) == []


def test_a_node_is_right_of_all_its_upstream_nodes():
    """Place it by the longest path of a diamond with a short cut."""
    edges = [("raw", "core"), ("raw", "mart"), ("core", "mart"), ("ref", "mart")]

    assert assign_layers(["raw", "core", "mart", "ref"], edges) == [
        ["raw"],
        ["core", "ref"],
        ["mart"],
    ]


def test_a_cycle_is_drawn_like_any_other_graph():
    """Ignore the edge that leads back, and an edge of a node to itself."""
    cycle = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]

    assert assign_layers(["a", "b", "c"], cycle) == [["a"], ["b"], ["c"]]


def test_lines_cross_only_where_they_must():
    """Place each node beside its upstream node, whatever the input's order is."""
    edges = [("a", "x"), ("b", "y"), ("c", "z")]

    left, right = assign_layers(["c", "z", "y", "a", "b", "x"], edges)

    assert [edge for edge in zip(left, right, strict=True) if edge not in edges] == []


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
)
def test_every_node_is_placed_once(count, edges):
    """Place each node in any graph, and draw no line back in one without cycles."""
    found = assign_layers(range(count), edges)

    assert sorted(itertools.chain(*found)) == list(range(count))
    assert all(found)
    forward = [(a, b) for a, b in edges if a < b < count]
    column = {
        node: at for at, layer in enumerate(assign_layers(range(count), forward)) for node in layer
    }
    assert all(column[a] < column[b] for a, b in forward)


def test_without_breaking_cycles_their_nodes_share_a_layer(monkeypatch):
    """Run the mutant: break no cycle."""
    given = {"a": ["b"], "b": ["a"]}
    monkeypatch.setattr(layers, "_acyclic", lambda *_: given)

    assert assign_layers(["a", "b"], [("a", "b"), ("b", "a")]) == [["a", "b"]]
