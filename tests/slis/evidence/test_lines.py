"""Complete lines of a log."""

import pytest

from slis.evidence import lines, schemas
from slis.evidence.parse import event_instant
from slis.spark.planning import local_rows

_EVENT = '{"Event":"SparkListenerTaskEnd","Task Info":{"Accumulables":[{"ID":970},{"ID":971}]}}'
_BRACES_IN_TEXT = '{"Event":"SparkListenerLogStart","Spark Version":"4.3 }} {"}'


@pytest.mark.parametrize(
    ("line", "is_half"),
    [
        (_EVENT, False),
        (_BRACES_IN_TEXT, False),
        (_EVENT[:40], True),
        (_EVENT[: _EVENT.index("},") + 1], True),  # cut behind an inner brace
        (_EVENT[:-1], True),
    ],
)
def test_a_line_is_half_where_what_it_opened_is_not_closed(spark, line, is_half):
    """Reject a line with any end that leaves a brace open; ignore braces in text."""
    text = local_rows(spark, [("file:/log", line)], schemas.LINES)
    logged = lines.read_lines(text, schemas.EVENT)
    assert [row.path for row in logged.where("is_half").collect()] == ["file:/log"] * is_half


def test_a_time_that_no_event_has_is_left_out_of_a_log(spark):
    """Skip the line: it must not stop the pass over all logs."""
    millis = [-(2**63), -1, 7_258_118_400_000, 2**63 - 1]
    given = local_rows(spark, [(each,) for each in millis], "at bigint")

    assert [row[0] for row in given.select(event_instant("at")).collect()] == [None] * 4
