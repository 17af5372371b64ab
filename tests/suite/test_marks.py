from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.suite.marks import COLLECTED, check_marks, mark_postgres_nightly

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests/suite/test_marks.py"
_OWN = pytest.mark.postgres_nightly(but="own")


def _item(name: str, *marks: pytest.MarkDecorator, file: str = HERE) -> SimpleNamespace:
    by_name = {each.name: each.mark for each in marks}
    return SimpleNamespace(
        nodeid=f"{file}::{name}",
        path=ROOT / file,
        config=SimpleNamespace(rootpath=ROOT),
        get_closest_marker=by_name.get,
    )


def _nightly(short: str) -> pytest.MarkDecorator:
    return pytest.mark.nightly(short=short)


def test_every_nightly_test_names_a_short_form_that_make_test_runs(request: pytest.FixtureRequest):
    """Check all tests: `make test` collects them, and none breaks a rule of the marks."""
    assert check_marks(request.config.stash[COLLECTED]) == []


@pytest.mark.parametrize("short", [f"{HERE}::test_one", f"{HERE}::test_one[2]"])
def test_a_short_form_may_be_a_function_or_one_of_its_parameters(short: str):
    """Accept both, since both name something that runs."""
    items = [_item("test_one[2]"), _item("test_long[200]", _nightly(short))]

    assert check_marks(items) == []


@pytest.mark.parametrize(
    ("short", "why"),
    [
        (f"{HERE}::test_two", "a function that does not exist"),
        (f"{HERE}::test_one[3]", "a parameter that does not exist"),
        (f"{HERE}::test_long", "itself"),
        (f"{HERE}::test_other", "another nightly test"),
        (f"{HERE}::test_install", "a test of `make cluster-test`"),
        ("tests/suite/test_nothing.py::test_one", "a file that does not exist"),
        ("test_one", "no path"),
        ("", "nothing"),
    ],
)
def test_a_short_form_that_make_test_does_not_run_is_reported(short: str, why: str):
    """Name the test and its short form."""
    items = [
        _item("test_one[2]"),
        _item("test_other", _nightly(f"{HERE}::test_one")),
        _item("test_install", pytest.mark.cluster),
        _item("test_long", _nightly(short)),
    ]

    assert check_marks(items) == [
        f"{HERE}::test_long: its short form {short} is not a test that `make test` runs"
    ], why


@pytest.mark.parametrize(
    "mark", [pytest.mark.nightly, pytest.mark.nightly("tests"), pytest.mark.nightly(like="tests")]
)
def test_a_nightly_mark_without_a_short_form_is_reported(mark: pytest.MarkDecorator):
    """Say what to write."""
    assert check_marks([_item("test_long", mark)]) == [
        f'{HERE}::test_long: write pytest.mark.nightly(short="tests/…::test_…")'
    ]


@pytest.mark.parametrize(("name", "wrong"), [("own", 0), ("owner", 1)])
def test_a_mark_that_names_no_parameters_of_its_test_is_reported(name: str, wrong: int):
    """Report it: all of its tests on PostgreSQL would be nightly."""
    item = _item(f"test_an_owner[postgresql-{name}]", pytest.mark.postgres, _OWN)

    assert len(check_marks([item])) == wrong


def test_a_test_that_runs_alone_is_nightly():
    """Reject one that is not nightly: `make test` runs no test alone, so it would never run."""
    assert check_marks([_item("test_one", pytest.mark.alone)]) == [
        f"{HERE}::test_one is `alone`, which `make test` does not run: mark it nightly"
    ]


@pytest.mark.parametrize(
    ("name", "mark", "shorts"),
    [
        ("test_one[postgresql]", pytest.mark.postgres_nightly, ["test_one[sqlite]"]),
        ("test_an_owner[postgresql-other]", _OWN, ["test_an_owner[sqlite-other]"]),
        ("test_an_owner[postgresql-own]", _OWN, []),
        ("test_one[postgresql]", pytest.mark.faults, []),
    ],
)
def test_a_test_on_postgresql_is_nightly_but_for_what_its_mark_names(
    name: str, mark: pytest.MarkDecorator, shorts: list[str]
):
    """Name the same test on SQLite as its short form."""
    assert _shorts_of(_item(name, pytest.mark.postgres, mark)) == [
        f"{HERE}::{short}" for short in shorts
    ]


def test_a_test_is_taken_out_of_its_module_s_mark():
    marks = (pytest.mark.postgres, pytest.mark.postgres_nightly, pytest.mark.postgres_always)

    assert _shorts_of(_item("test_one[postgresql]", *marks)) == []


def _shorts_of(item: SimpleNamespace) -> list[str]:
    added: list[pytest.Mark] = []
    item.add_marker = added.append
    mark_postgres_nightly(item)
    return [each.kwargs["short"] for each in added]
