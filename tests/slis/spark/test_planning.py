from pathlib import Path

import pytest
from pyspark.sql import functions as F

from slis.spark.planning import computed_once
from slis.spark.session import spark_session


def test_a_class_that_was_asked_for_once_is_not_looked_up_again(spark):
    """Build the same expressions again without a request for reflection."""
    jvm = spark._jvm  # noqa: SLF001 - as PySpark names it
    F.coalesce(F.col("a"), F.lit(1)).isin(1, 2)
    asked = []
    send = jvm._gateway_client.send_command  # noqa: SLF001 - what each lookup goes through

    def note(command, *rest: object, **more: object):
        asked.append(command)
        return send(command, *rest, **more)

    try:
        jvm._gateway_client.send_command = note  # noqa: SLF001 - as above
        F.coalesce(F.col("b"), F.lit(2)).isin(3, 4)
    finally:
        jvm._gateway_client.send_command = send  # noqa: SLF001 - as above

    assert asked
    assert not [one for one in asked if one.startswith("r\n")], "r: a question of reflection"


def test_a_session_that_is_opened_again_remembers_the_same_classes(spark, tmp_path: Path):
    """Wrap nothing a second time: each benchmark opens the session again."""
    before = dict(vars(spark._jvm))  # noqa: SLF001 - as above
    again = spark_session(warehouse=tmp_path)

    assert dict(vars(again._jvm)) == before  # noqa: SLF001 - as above


def _list_cached(spark) -> set[str]:
    """Return the ids of what Spark keeps; what others left may go at any time."""
    found = spark.sparkContext._jsc.sc().getPersistentRDDs().keys()  # noqa: SLF001
    return set(found.mkString(" ").split())


def test_a_frame_is_computed_once_and_its_rows_are_freed(spark):
    """Free its rows: derived frames neither compute it again nor keep its plan."""
    before, calls = _list_cached(spark), spark.sparkContext.accumulator(0)

    def count(batches):
        for batch in batches:
            calls.add(1)
            yield batch

    frame = spark.range(3, numPartitions=1).mapInArrow(count, "id bigint")
    with computed_once(frame) as computed:
        found = [sorted(row.id for row in computed.where(f"id > {n}").collect()) for n in range(2)]
        children = computed._jdf.queryExecution().analyzed().children()  # noqa: SLF001
        own = _list_cached(spark) - before

    assert found == [[1, 2], [2]]
    assert calls.value == 1
    assert children.isEmpty()
    assert len(own) == 1
    assert not own & _list_cached(spark)


def test_rows_are_freed_where_computing_them_fails(spark):
    """Free them each time: an evaluation that fails is tried again every 15 s."""
    before = _list_cached(spark)
    with (
        pytest.raises(Exception, match="DIVIDE_BY_ZERO"),
        computed_once(spark.range(3).selectExpr("1 div (id - 2) AS one")) as computed,
    ):
        computed.collect()

    assert not _list_cached(spark) - before
