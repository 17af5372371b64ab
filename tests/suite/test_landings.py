from pathlib import Path
from unittest import mock
from unittest.mock import Mock

import pytest
from sqlalchemy import Engine

from lineage.catalog.tables import metadata
from lineage.lake.reading import read_events
from lineage.policy import parse
from slis.stream import batch
from tests.slis.lake.lakes import visible, writer_of
from tests.slis.stream import spools
from tests.slis.stream.spools import Lander, run_event
from tests.suite.landings import LANDINGS, Landings


@pytest.fixture
def landings(monkeypatch):
    """Landings of this test's own, and how often Spark was asked for a frame."""
    own, frames = Landings(), []
    frame = spools.frame

    def count(*given, **named):  # noqa: ANN002, ANN003 - as the function that it stands for
        frames.append(given)
        return frame(*given, **named)

    monkeypatch.setattr(spools, "LANDINGS", own)
    monkeypatch.setattr(spools, "frame", count)
    return own, frames


# The lake's folders have names and an owner by lot: its events are compared.
_BY_LOT = ("lake_folder", "meta")


def _contents(catalog: Engine) -> dict[str, list[str]]:
    with catalog.connect() as connection:
        return {
            each.name: sorted(map(repr, connection.execute(each.select())))
            for each in metadata.sorted_tables
            if each.name not in _BY_LOT
        }


def _lake(catalog: Engine, folder: Path) -> list[dict]:
    writer = writer_of(catalog, folder)
    return read_events(writer.lake, visible(writer)).to_table().sort_by("seq").to_pylist()


@pytest.mark.postgres_nightly("a batch is merged by the SQL of test_runs.py")
def test_a_repeated_batch_leaves_what_a_computed_one_does(spark, catalogs, tmp_path, at, landings):
    """In every table and in the lake; Spark computes each of two batches once."""
    own, frames = landings
    found = []
    for name in ("computed", "repeated", "off"):
        own.is_on = name != "off"
        catalog = catalogs()
        lander = Lander(spark, catalog, tmp_path / name, at(12))
        lander.land(
            run_event("START", at(8), run="r1", inputs=["in"]),
            run_event("COMPLETE", at(9), run="r1", outputs=["out"], rows_written=7),
        )
        lander.land(run_event("FAIL", at(10), run="r2", outputs=["out"]), b"{")
        found.append((_contents(catalog), _lake(catalog, tmp_path / name), len(frames)))

    assert found[0][0]["dataset_write"]
    assert found[0][:2] == found[1][:2] == found[2][:2]
    assert [frames for _, _, frames in found] == [2, 2, 4]


@pytest.mark.postgres_nightly("a batch is merged by the SQL of test_runs.py")
def test_a_batch_is_repeated_at_other_numbers(spark, catalogs, tmp_path, at, landings):
    """Landed first in one catalog and second in others: the numbers are those of its place."""
    own, frames = landings
    first = run_event("START", at(8), run="r1", inputs=["in"])
    second = run_event("COMPLETE", at(9), run="r1", outputs=["out"], rows_written=7)
    Lander(spark, catalogs(), tmp_path / "before", at(12)).land(second, b"{")
    found = []
    for name in ("repeated", "off"):
        own.is_on = name != "off"
        catalog = catalogs()
        lander = Lander(spark, catalog, tmp_path / name, at(12))
        lander.land(first)
        lander.land(second, b"{")
        found.append((_contents(catalog), _lake(catalog, tmp_path / name), len(frames)))

    assert [row["seq"] for row in found[0][1]] == [1, 2, 3]
    assert found[0][:2] == found[1][:2]
    assert [frames for _, _, frames in found] == [2, 4]


def test_what_spark_made_is_kept_where_the_test_has_the_landing_fail(
    spark, catalogs, tmp_path, at, landings
):
    """Let the test that repeats it fail by itself."""
    event = run_event("COMPLETE", at(9), outputs=["out"])

    for name in ("computed", "repeated"):
        lander = Lander(spark, catalogs(), tmp_path / name, at(12))
        with (
            mock.patch.object(batch, "staged_rows", Mock(side_effect=ValueError("odd"))),
            pytest.raises(ValueError, match="odd"),
        ):
            lander.land(event)

    assert len(landings[1]) == 1
    assert lander.land(event).events == 1


def test_a_large_batch_is_not_kept(spark, catalogs, tmp_path, at, landings):
    """Keep the memory of a worker free of them."""
    large = run_event("COMPLETE", at(9), facets={"x": {"y": "a" * (1 << 24)}})
    for name in ("first", "second"):
        Lander(spark, catalogs(), tmp_path / name, at(12)).land(large)

    assert len(landings[1]) == 2


@pytest.mark.postgres_nightly("a batch is merged by the SQL of test_runs.py")
def test_another_policy_holds_for_a_repeated_batch(spark, catalogs, tmp_path, at, landings):
    """Folds are no part of what is remembered."""
    names = []
    for name in ("without", "with"):
        catalog = catalogs()
        lander = Lander(spark, catalog, tmp_path / name, at(12))
        if name == "with":
            lander.policy = parse("folds: [{match: 'n/run_{n}', dataset: n/run}]")
        lander.land(run_event("COMPLETE", at(9), outputs=["run_1"]))
        names.append(spools.rows(catalog, "SELECT name FROM dataset ORDER BY name"))

    assert names[0] == [("run_1",)]
    assert ("run",) in names[1]
    assert len(landings[1]) == 1


def test_a_test_that_patches_modules_computes_its_own(monkeypatch):
    """What it patched would otherwise be remembered for others, or not be seen."""
    monkeypatch.setattr(spools, "CANONICAL", "")

    assert not LANDINGS.is_on


def test_other_tests_use_what_was_computed():
    assert LANDINGS.is_on
