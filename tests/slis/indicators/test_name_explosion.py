from datetime import datetime, timedelta

import pytest
from pyspark.sql import functions as F

from lineage.catalog import tables
from lineage.names.patterns import EXPLOSION_PER_HOUR, pattern_of
from slis.indicators.name_explosion import (
    MOST_PATTERNS,
    NEW_NAMES,
    count_new_names,
    pattern,
    renew_explosions,
)
from slis.spark.planning import local_rows
from tests.lineage.patterned import PATTERNED
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day, instants

NOON = day(1, 12)


def _growth(spark, *names: tuple[str, datetime]):
    frame = local_rows(spark, [("shop", name, seen) for name, seen in names], NEW_NAMES)
    return [tuple(row) for row in count_new_names(frame, instants(spark, NOON)).collect()]


def test_new_names_of_the_hour_are_counted_by_pattern(spark):
    """Count two of today; skip a known one of yesterday, and one that is alone with its pattern."""
    found = _growth(
        spark,
        ("lake/orders_20261102", NOON),
        ("lake/orders_20261101", NOON - timedelta(minutes=59)),
        ("lake/orders_20261031", NOON - timedelta(hours=1)),
        ("lake/customers", NOON),
    )

    assert found == [
        ("shop", "lake/orders_{date}", 2, "shop", "lake/orders_20261101", False),
    ]


def test_no_new_name_is_no_growth(spark):
    """Return no row for an empty hour, and for old names only."""
    assert _growth(spark) == []
    assert _growth(spark, ("a_1", day(0)), ("a_2", day(0))) == []


def test_a_name_of_the_future_is_counted_in_its_hour(spark):
    """Count a name of a clock ahead when its hour has come."""
    ahead = NOON + timedelta(minutes=3)

    assert _growth(spark, ("a_1", ahead), ("a_2", ahead)) == []


def test_five_hundred_names_of_one_pattern_are_an_explosion(spark):
    """Return one row for the 500; skip ten names of usual growth."""
    exploding = [(f"tmp/run_{number}/out", NOON) for number in range(500)]
    hourly = [(f"lake/t{letter}_{hour}", NOON) for letter in "abcde" for hour in (1, 2)]

    found = _growth(spark, *exploding, *hourly)

    assert found[0] == ("shop", "tmp/run_{n}/out", 500, "shop", "tmp/run_0/out", True)
    assert [row[5] for row in found] == [True] + [False] * 5


@pytest.mark.parametrize(("names", "is_explosion"), [(EXPLOSION_PER_HOUR, True), (19, False)])
def test_the_bound_is_an_explosion(spark, names, is_explosion):
    """Report twenty names an hour, and not nineteen."""
    [row] = _growth(spark, *((f"x_{number}", NOON) for number in range(names)))

    assert row[2:] == (names, "shop", "x_0", is_explosion)


def test_only_the_fastest_growing_are_named(spark):
    """Return 20 of 30 patterns: the number of rows is bounded."""
    letters = [f"{one}{other}" for one in "abcdef" for other in "vwxyz"]
    names = [(f"{at}_{number}", NOON) for at in letters for number in (1, 2)]

    assert len(_growth(spark, *names, *((f"most_{n}", NOON) for n in range(3)))) == MOST_PATTERNS
    assert _growth(spark, *names, *((f"most_{n}", NOON) for n in range(3)))[0][1] == "most_{n}"


def test_spark_and_python_read_the_rules_alike(spark):
    """Compare one table of rules in two engines."""
    frame = local_rows(spark, [(name,) for name, _ in PATTERNED], "name string")

    found = {
        row.name: row.pattern
        for row in frame.select("name", pattern(F.col("name")).alias("pattern")).collect()
    }

    assert found == {name: pattern_of(name) for name, _ in PATTERNED}


def test_the_catalog_holds_the_growth_of_the_last_hour_alone(spark, catalog):
    """Delete growth of an hour ago with the next evaluation; skip folded names."""
    rows = CatalogRows(catalog, NOON - timedelta(minutes=30))
    for number in range(3):
        rows.dataset(f"tmp_{number}")
    renew_explosions(spark, catalog, NOON)
    [found] = rows.rows(tables.name_pattern)
    renew_explosions(spark, catalog, NOON + timedelta(hours=1))

    assert (found["name"], found["new_datasets"], bool(found["is_explosion"])) == (
        "tmp_{n}",
        3,
        False,
    )
    assert rows.rows(tables.name_pattern) == []
