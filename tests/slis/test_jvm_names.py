from pyspark.sql import functions as F

from slis.jvm_names import remember


def test_what_was_asked_for_once_is_not_looked_up_again(spark):
    """Check that building an expression twice asks Java for no class and no method again."""
    jvm = spark._jvm  # noqa: SLF001 - as PySpark names it
    remember(jvm)
    F.coalesce(F.col("a"), F.lit(1)).isin(1, 2)
    asked = []
    found = jvm._gateway_client.send_command  # noqa: SLF001 - what each lookup goes through

    def note(command, *rest: object, **more: object):
        asked.append(command)
        return found(command, *rest, **more)

    try:
        jvm._gateway_client.send_command = note  # noqa: SLF001 - as above
        F.coalesce(F.col("b"), F.lit(2)).isin(3, 4)
    finally:
        jvm._gateway_client.send_command = found  # noqa: SLF001 - as above

    assert asked
    assert not [one for one in asked if one.startswith("r\n")], "r: a question of reflection"


def test_a_second_session_of_the_process_changes_nothing(spark):
    """A session is opened for each bench: what is remembered would be wrapped again and again."""
    before = dict(vars(spark._jvm))  # noqa: SLF001 - as above
    remember(spark._jvm)  # noqa: SLF001 - as above

    assert dict(vars(spark._jvm)) == before  # noqa: SLF001 - as above
