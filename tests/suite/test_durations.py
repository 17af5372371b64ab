import re
from pathlib import Path

import pytest

from tests.suite.durations import before, compare, main, read, write

OLD = {"tests/a.py::test_one": 60.0, "tests/a.py::test_two": 2.0, "tests/b.py::test_gone": 5.0}
NEW = {"tests/a.py::test_one": 20.5, "tests/a.py::test_two": 2.5, "tests/c.py::test_new[x\ty]": 3.0}


def test_a_run_is_compared_with_the_one_before(tmp_path, capsys):
    """Print files and tests that changed most; leave out unchanged ones."""
    path = tmp_path / "build" / "test.tsv"
    write(path, OLD)
    write(path, NEW)

    assert main([path]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(path),
        "3 tests took 67 s, 3 take 26 s",
        "   change    before       now  file",
        "   -39.0s     62.0s     23.0s  tests/a.py",
        "    -5.0s      5.0s         -  tests/b.py",
        "    +3.0s         -      3.0s  tests/c.py",
        "   change    before       now  test",
        "   -39.5s     60.0s     20.5s  tests/a.py::test_one",
        "    -5.0s      5.0s         -  tests/b.py::test_gone",
        "    +3.0s         -      3.0s  tests/c.py::test_new[x\ty]",
    ]


def test_only_the_last_two_runs_are_kept(tmp_path):
    """Keep the second run as the one before, and the third as the last."""
    path = tmp_path / "test.tsv"
    for each in ({"tests/a.py::test_one": 9.0}, OLD, NEW):
        write(path, each)

    assert (read(before(path)), read(path)) == (OLD, NEW)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["test.tsv", "test.tsv.before"]


def test_a_change_below_a_second_is_no_change():
    """Leave out what a busy machine changes in each test."""
    assert list(compare({"tests/a.py::test_one": 1.0}, {"tests/a.py::test_one": 1.9})) == [
        "1 tests took 1 s, 1 take 2 s",
        "no file changed by 1 s or more",
        "no test changed by 1 s or more",
    ]


@pytest.mark.parametrize("runs", [0, 1])
def test_fewer_than_two_runs_are_an_error(tmp_path, capsys, runs):
    """Say what to do."""
    path = tmp_path / "test.tsv"
    for _ in range(runs):
        write(path, OLD)

    assert main([path]) == 1
    assert capsys.readouterr() == ("", "nothing to compare: run `make test` twice\n")


def test_the_makefile_binds_each_file_to_its_option():
    """Check for `=`: pytest takes a file that is there for tests, and looks beside it for options.

    The first `make test` makes the file, so that each later one failed.
    """
    makefile = Path(__file__).resolve().parents[2] / "Makefile"

    assert re.findall(r"--\w+-to[^=]", makefile.read_text("utf-8")) == []
