"""Where the boxes of a graph stand."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from service.explorer import layers
from service.explorer.layers import assign_layers


def test_one_node_is_one_layer():
    """And none is none."""
    assert assign_layers(["a"], []) == [["a"]]
    assert assign_layers([], []) == []


def test_a_node_stands_right_of_all_that_it_is_made_of():
    """A diamond with a short cut: the longest way decides."""
    edges = [("raw", "core"), ("raw", "mart"), ("core", "mart"), ("ref", "mart")]

    assert assign_layers(["raw", "core", "mart", "ref"], edges) == [
        ["raw"],
        ["core", "ref"],
        ["mart"],
    ]


def test_a_cycle_is_drawn_like_any_other_graph():
    """One of its edges leads back; a node that is made of itself stands where it would."""
    cycle = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]

    assert assign_layers(["a", "b", "c"], cycle) == [["a"], ["b"], ["c"]]


def test_lines_do_not_cross_where_that_can_be_helped():
    """Each stands beside what it is made of, in whatever order they came."""
    edges = [("a", "x"), ("b", "y"), ("c", "z")]

    left, right = assign_layers(["c", "z", "y", "a", "b", "x"], edges)

    assert [edge for edge in zip(left, right, strict=True) if edge not in edges] == []


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
)
def test_every_node_stands_somewhere_once(count, edges):
    """Whatever the graph; and without cycles no line leads back."""
    found = assign_layers(range(count), edges)

    assert sorted(itertools.chain(*found)) == list(range(count))
    assert all(found)
    forward = [(a, b) for a, b in edges if a < b < count]
    column = {
        node: at for at, layer in enumerate(assign_layers(range(count), forward)) for node in layer
    }
    assert all(column[a] < column[b] for a, b in forward)


def test_the_mutant_without_its_way_round_cycles_never_places_them(monkeypatch):
    """What is in a cycle waits for what is in it."""
    given = {"a": ["b"], "b": ["a"]}
    monkeypatch.setattr(layers, "_acyclic", lambda *_: given)

    assert assign_layers(["a", "b"], [("a", "b"), ("b", "a")]) == [["a", "b"]]
