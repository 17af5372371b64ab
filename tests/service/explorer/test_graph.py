"""The picture of a graph: what is drawn of it, and what is said to be left out."""

import pytest

from service.explorer import graph
from service.explorer.graph import draw, picture
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
    """In the middle of nothing."""
    found = picture(_lineage())

    assert [(box.dataset, box.state, box.is_centre) for box in found.boxes] == [
        ("core", "bad", True)
    ]
    assert (found.lines, found.cut) == ([], None)


def test_what_it_is_made_of_stands_left_and_what_is_made_of_it_right():
    """Two steps both ways, with the jobs of each line."""
    up = _node("raw", children=[_node("source", jobs=("copy",))])
    found = picture(_lineage([up], [_node("mart")]))

    by_x = sorted(found.boxes, key=lambda box: box.x)
    assert [box.dataset for box in by_x] == ["source", "raw", "core", "mart"]
    assert sorted(line.jobs[0] for line in found.lines) == ["copy", "etl", "etl"]
    assert not any(line.is_back for line in found.lines)
    assert found.width == max(box.x for box in found.boxes) + found.box_width + 8


def test_a_dataset_on_both_sides_stands_once_and_one_line_leads_back():
    """A cycle: made of what is made of it."""
    found = picture(_lineage([_node("mart")], [_node("mart")]))

    assert sorted(box.dataset for box in found.boxes) == ["core", "mart"]
    assert sorted(line.is_back for line in found.lines) == [False, True]


def test_crowded_hop_shows_the_most_severe_datasets():
    """500 beside one another, one bad: that one is there, and what hangs on it."""
    board = [_node("board", "unknown")]
    around = [_node(f"mart{n:03}") for n in range(499)]
    around.append(_node("mart499", "bad", board))
    found = picture(_lineage(downstream=around, cut="more lies beyond"))

    assert {"mart499", "board", "mart000"} < {box.dataset for box in found.boxes}
    assert found.cut == "14 of 502 datasets shown; more lies beyond"
    assert len(found.lines) == len(found.boxes) - 1


def test_the_mutant_that_draws_all_says_nothing(monkeypatch):
    """The cut is what the sentence is about."""
    monkeypatch.setattr(graph, "MOST_BESIDE", 1_000)
    around = [_node(f"mart{n:03}") for n in range(500)]

    assert picture(_lineage(downstream=around)).cut is None


def test_what_runs_past_the_middle_is_drawn_too():
    """Trees lead to their root alone: raw to mart is in neither, and both are drawn."""
    trees = _lineage([_node("raw")], [_node("mart")])
    names = draw(trees)
    raw, mart = (next(one for one in names if one[1] == wanted) for wanted in ("raw", "mart"))

    found = picture(trees, [(raw, mart, "past"), (raw, mart, "past"), (raw, mart, "")])

    assert len(found.lines) == 3
    assert [line.jobs for line in found.lines if line.jobs != ["etl"]] == [["past"]]


def test_boxes_do_not_overlap():
    """Whatever the shape of the graph."""
    up = [_node(f"u{n}", children=[_node(f"s{n}"), _node("shared")]) for n in range(7)]
    boxes = picture(_lineage(up, [_node("mart")])).boxes

    places = {(box.x, box.y) for box in boxes}
    assert len(places) == len(boxes)
    assert all(a is b or a.x != b.x or abs(a.y - b.y) >= 38 for a in boxes for b in boxes)


def test_a_long_name_shows_its_end_and_hidden_neighbours_are_counted():
    """The last part tells one table from another."""
    found = picture(_lineage([_node("x" * 50 + "/orders", hidden=3)]))

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
def test_a_label_begins_where_a_part_of_the_name_does(name, label):
    """Half a word says less than none, but for a part that is all that tells."""
    found = picture(_lineage([_node(name)]))

    assert label in {box.label for box in found.boxes}
