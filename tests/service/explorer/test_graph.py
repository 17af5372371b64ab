"""Drawing of a graph: its boxes, and the note on what is left out."""

import pytest

from service.explorer import graph
from service.explorer.graph import datasets_to_draw, draw_trees
from service.queries.shapes import Lineage, Node

_SPACE = "s3://shop"


def _node(name, state="good", children=(), jobs=("etl",), hidden=0):
    return Node(
        _SPACE, name, state, list(jobs), repeated=False, children=list(children), hidden=hidden
    )


def _lineage(upstream=(), downstream=(), cut=None):
    fields = {"last_run": None, "depth": 2, "partial": cut is not None, "partial_reason": cut}
    return Lineage(_SPACE, "core", "bad", list(upstream), list(downstream), **fields)


def test_a_dataset_by_itself_is_one_box():
    """Draw it in the middle."""
    found = draw_trees(_lineage())

    assert [(box.dataset, box.state, box.is_centre) for box in found.boxes] == [
        ("core", "bad", True)
    ]
    assert (found.lines, found.cut) == ([], None)


def test_upstream_is_drawn_left_and_downstream_right():
    """Draw two hops each way, with the jobs of each line."""
    up = _node("raw", children=[_node("source", jobs=("copy",))])
    found = draw_trees(_lineage([up], [_node("mart")]))

    by_x = sorted(found.boxes, key=lambda box: box.x)
    assert [box.dataset for box in by_x] == ["source", "raw", "core", "mart"]
    assert sorted(line.jobs[0] for line in found.lines) == ["copy", "etl", "etl"]
    assert not any(line.is_back for line in found.lines)
    assert found.width == max(box.x for box in found.boxes) + found.box_width + 8


def test_a_dataset_on_both_sides_is_one_box_with_a_line_back():
    """Draw a cycle."""
    found = draw_trees(_lineage([_node("mart")], [_node("mart")]))

    assert sorted(box.dataset for box in found.boxes) == ["core", "mart"]
    assert sorted(line.is_back for line in found.lines) == [False, True]


def test_crowded_hop_shows_the_most_severe_datasets():
    """Draw the one bad dataset of 500 in a hop, and its downstream dataset."""
    board = [_node("board", "unknown")]
    around = [_node(f"mart{n:03}") for n in range(499)]
    around.append(_node("mart499", "bad", board))
    found = draw_trees(_lineage(downstream=around, cut="more lies beyond"))

    assert {"mart499", "board", "mart000"} < {box.dataset for box in found.boxes}
    assert found.cut == "14 of 502 datasets shown; more lies beyond"
    assert len(found.lines) == len(found.boxes) - 1


def test_without_the_bound_no_note_is_drawn(monkeypatch):
    """Run the mutant: draw everything."""
    monkeypatch.setattr(graph, "MOST_BESIDE", 1_000)
    around = [_node(f"mart{n:03}") for n in range(500)]

    assert draw_trees(_lineage(downstream=around)).cut is None


def test_edges_past_the_middle_are_drawn_too():
    """Draw the edge from raw to mart, which is in neither tree, as each leads to its root."""
    trees = _lineage([_node("raw")], [_node("mart")])
    names = datasets_to_draw(trees)
    raw, mart = (next(one for one in names if one[1] == wanted) for wanted in ("raw", "mart"))

    found = draw_trees(trees, [(raw, mart, "past"), (raw, mart, "past"), (raw, mart, "")])

    assert len(found.lines) == 3
    assert [line.jobs for line in found.lines if line.jobs != ["etl"]] == [["past"]]


def test_boxes_do_not_overlap():
    """Place boxes apart in any graph."""
    up = [_node(f"u{n}", children=[_node(f"s{n}"), _node("shared")]) for n in range(7)]
    boxes = draw_trees(_lineage(up, [_node("mart")])).boxes

    places = {(box.x, box.y) for box in boxes}
    assert len(places) == len(boxes)
    assert all(a is b or a.x != b.x or abs(a.y - b.y) >= 38 for a in boxes for b in boxes)


def test_a_long_name_shows_its_end_and_hidden_neighbours_are_counted():
    """Keep the last part, which distinguishes one table from another."""
    found = draw_trees(_lineage([_node("x" * 50 + "/orders", hidden=3)]))

    far = next(box for box in found.boxes if not box.is_centre)
    assert (len(far.label), far.label[-7:], far.hidden) == (24, "/orders", 3)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("/lake/shop/core/orders", "/lake/shop/core/orders"),
        ("/var/lake/warehouse/core/orders", "…/warehouse/core/orders"),
        ("hive.warehouse_of_all.core.orders", "…core.orders"),
        ("/" + "long" * 20 + "/t1", "…longlonglonglonglong/t1"),
    ],
)
def test_a_label_begins_at_a_part_of_the_name(name, label):
    """Cut within a part only if it is the last one."""
    found = draw_trees(_lineage([_node(name)]))

    assert label in {box.label for box in found.boxes}
