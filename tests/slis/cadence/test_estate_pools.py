"""Pools over all datasets: an evaluation of one dataset uses the tails of the others."""

import pytest

from lineage.policy import Policy
from slis.cadence import cadence, cadence_limits, estate_pools
from slis.cadence.estate_pools import (
    DatasetScores,
    estate_scores,
    load_scores,
    merge_scores,
    sampled_scores,
    scores_frame,
    store_scores,
)
from slis.cadence.working_time import WorkingTime
from slis.evaluation.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day, gaps, writes


def _daily_writes(key, count=30):
    return [{"dataset_key": key, "written_at": day(n, n * 7 % 5 / 10)} for n in range(count)]


@pytest.fixture(scope="module")
def profiles(spark):
    """Return the profile of one daily dataset, which has four scores."""
    frame = writes(spark, *_daily_writes(1))
    times = {None: WorkingTime()}
    return cadence.profiles(frame, gaps(spark), instants=[day(30)], times=times).persist()


def test_a_pool_is_of_every_dataset_and_of_each_its_newest_scores(spark, profiles):
    """Add the stored scores of other datasets; a dataset learned again replaces its own."""
    stored = [DatasetScores(1, "regular", [99.0]), DatasetScores(2, "periodic", [5.0, 6.0])]

    estate = estate_scores(profiles, scores_frame(spark, stored))

    rows = {(row.dataset_key, row.cadence_class): len(row.scores) for row in estate.collect()}
    assert rows == {(1, "periodic"): 4, (2, "periodic"): 2}
    [pool] = cadence_limits.pools(estate).collect()
    assert (pool.cadence_class, pool.scores, pool.top) == ("periodic", 6, [6.0])


def test_a_sample_of_the_scores_is_stored(profiles, monkeypatch):
    """Keep some scores of each dataset, so that a few datasets do not fill the pool."""
    [whole] = sampled_scores(profiles).collect()
    monkeypatch.setattr(estate_pools, "_MAX_OF_DATASET", 1)
    [part] = sampled_scores(profiles).collect()

    assert (len(whole.scores), len(part.scores)) == (4, 1)
    assert set(part.scores) <= set(whole.scores)


def test_the_newest_scores_are_kept_up_to_a_bound(monkeypatch):
    """Drop the oldest of a class, a dataset's older ones, and those of half a year ago."""
    monkeypatch.setattr(estate_pools, "MAX_SCORES", 3)
    micros = [int(day(number).timestamp() * 1e6) for number in range(200)]
    stored = [
        DatasetScores(1, "periodic", [1.0, 2.0], micros[100]),
        DatasetScores(2, "periodic", [3.0, 4.0], micros[101]),
        DatasetScores(3, "regular", [5.0], micros[1]),
        DatasetScores(4, "bursty", [6.0], micros[150]),
    ]
    fresh = [DatasetScores(4, "periodic", [7.0], micros[199])]

    kept = merge_scores(stored, fresh, day(199))

    assert [(one.dataset_key, one.cadence_class) for one in kept] == [
        (4, "periodic"),
        (2, "periodic"),
    ]


@pytest.mark.postgres_nightly("scores are stored by the SQL of test_learning.py")
def test_scores_outlive_passes_over_other_datasets(spark, catalog):
    """Keep the scores of both datasets, although each pass learns one dataset."""
    rows = CatalogRows(catalog, day(0))
    for name, hour in (("mart.first", 1), ("mart.second", 2)):
        at = rows.dataset(name)
        for number in range(30):
            rows.written(at, day(number, hour + number * 7 % 5 / 10))
        evaluate(spark, catalog, Policy(), day(29, 12 + hour))

    with catalog.connect() as connection:
        stored = load_scores(connection)
    assert len({one.dataset_key for one in stored}) == 2
    assert {one.cadence_class for one in stored} == {"periodic"}


@pytest.mark.postgres_nightly("scores are stored by the SQL of test_learning.py")
def test_a_class_without_datasets_is_stored_as_empty(catalog):
    """Store no pool for the class of the only dataset that moved to another class."""
    before, after = DatasetScores(1, "bursty", [1.0], 1), DatasetScores(1, "periodic", [2.0], 2)
    with catalog.begin() as connection:
        store_scores(connection, [], [before])
        store_scores(connection, [before], [after])

        assert load_scores(connection) == [after]
