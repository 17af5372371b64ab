"""Files, joined to the datasets of their folders."""

import pytest

from tests.slis.stream.spools import CANONICAL, rows, run_event

_FOLDER, _FILE = "/raw/orders", "/raw/orders/day1.csv"
_READS = """
    SELECT d.name, r.root_run_id FROM dataset_read r JOIN dataset d
    ON d.dataset_key = r.dataset_key ORDER BY 2
"""
_EDGES = """
    SELECT u.name, d.name FROM edge e JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""


@pytest.mark.parametrize("is_reversed", [False, True], ids=["file last", "file first"])
def test_a_file_belongs_to_the_folder_that_a_run_writes(lander, catalog, at, is_reversed):
    """Move what is known of the file, in any order; a file deeper in the folder is another."""
    events = [
        run_event("COMPLETE", at(8), run="w", outputs=[_FOLDER]),
        run_event("COMPLETE", at(9), run="r", inputs=[_FILE], outputs=["t"]),
        run_event("COMPLETE", at(9), run="s", inputs=[f"{_FOLDER}/eu/day1.csv"], outputs=["u"]),
    ]
    for event in reversed(events) if is_reversed else events:
        lander.land(event)

    deeper = f"{_FOLDER}/eu/day1.csv"
    assert rows(catalog, _EDGES) == [(_FOLDER, "t"), (deeper, "u")]
    assert rows(catalog, _READS) == [(_FOLDER, "r"), (deeper, "s")]


def test_a_written_file_and_an_unwritten_folder_stay_apart(lander, catalog, at):
    """Join `orders.csv` to the folder `orders` that is only read: no other file."""
    lander.land(
        run_event("COMPLETE", at(8), run="w", outputs=["/raw/a", "/raw/a/own.csv"]),
        run_event("COMPLETE", at(9), run="r", inputs=["/raw/a/own.csv", "/raw/b"], outputs=["t"]),
        run_event("COMPLETE", at(9), run="s", inputs=["/raw/b/c.json", "/raw/b/b.json.gz"]),
    )
    names = {name: dataset for name, dataset in rows(catalog, CANONICAL) if "." in name}
    assert names == {
        "/raw/a/own.csv": "/raw/a/own.csv",
        "/raw/b/c.json": "/raw/b/c.json",
        "/raw/b/b.json.gz": "/raw/b",
    }

    for output, folder in (("/raw/b/b.json.gz", "/raw/b/c.json"), ("/raw/b", "/raw/b")):
        lander.land(run_event("COMPLETE", at(10), run=output, outputs=[output]))
        names = {name: dataset for name, dataset in rows(catalog, CANONICAL) if "/b/" in name}
        assert names == {"/raw/b/c.json": folder, "/raw/b/b.json.gz": "/raw/b/b.json.gz"}
