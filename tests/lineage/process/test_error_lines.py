import pytest

from lineage.process.error_lines import error_line

_WORKER = "An exception was thrown from the Python worker: Traceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, ""),
        (" \n ", ""),
        ("\n no rates \r\n at line 3", "no rates"),
        (
            f"{_WORKER}  File, line 14\nTypeError: unsupported operand\n\n\tat org",
            "TypeError: unsupported operand",
        ),
        (
            f"{_WORKER}  File\npyspark.errors.base.PySparkException: no\n",
            "pyspark.errors.base.PySparkException: no",
        ),
        (f"{_WORKER}  cut", _WORKER.rstrip()),
        ("[TABLE_NOT_FOUND] x\nValueError: y", "[TABLE_NOT_FOUND] x"),
    ],
)
def test_one_line_describes_the_error(text, line):
    """Take the exception of a traceback, and the first line of any other text."""
    assert error_line(text) == line
