from pathlib import Path

from pyspark.sql import functions as F

from slis.spark.session import open_session


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
    again = open_session(warehouse=tmp_path)

    assert dict(vars(again._jvm)) == before  # noqa: SLF001 - as above
