import pytest

import lineage
from tests.suite.statements import is_of_a_test, left_out, main, shape

_TEST = ["tests/a.py::test_one[postgresql]", False, ["SELECT N", "INSERT INTO a"]]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT a\n  FROM t LIMIT 10", "SELECT a FROM t LIMIT N"),
        ("IN (%(k_1)s, %(k_2)s, %(k_3)s)", "IN (%values)"),
        ("VALUES (%(a__0)s::BIGINT, %(b__0)s), (%(a__1)s::BIGINT, %(b__1)s)", "VALUES (%values)"),
        ("a = %(a)s AND b = %(b)s", "a = %(a)s AND b = %(b)s"),
    ],
)
def test_one_statement_has_one_shape_whatever_its_values(statement, expected):
    assert shape(statement) == expected


def test_a_nightly_test_with_a_statement_of_its_own_is_named():
    """Name its statement too; accept a test that repeats the statements of others."""
    repeats = ["tests/a.py::test_two[postgresql]", True, ["SELECT N"]]
    alone = ["tests/a.py::test_three[postgresql]", True, ["SELECT N", "DELETE FROM a"]]

    assert list(left_out([_TEST, repeats])) == []
    [left] = left_out([_TEST, repeats, alone])
    assert left.startswith(alone[0])
    assert left.endswith(": DELETE FROM a")


def test_queries_of_a_test_itself_are_left_out():
    """Decide by the innermost frame that is in the repository, and in no library."""
    ours = {}
    exec(compile("def ask(note): return note()", lineage.__file__, "exec"), ours)  # noqa: S102

    def note():
        return is_of_a_test()

    assert note()
    assert not ours["ask"](note)


def test_nothing_recorded_is_an_error(tmp_path, capsys):
    """Fail: a run that recorded nothing shows nothing."""
    assert main(tmp_path) == 1
    assert "nothing was recorded" in capsys.readouterr().out
