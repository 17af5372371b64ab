"""Nightly tests: the repetitions that `make test` leaves to `make nightly`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

_ELSEWHERE = ("nightly", "cluster")  # marks of tests that `make test` leaves to other targets
COLLECTED = pytest.StashKey[list[pytest.Item]]()  # before any is deselected


def mark_postgres_nightly(item: pytest.Item) -> None:
    """Make a test on PostgreSQL nightly where its mark says so; its short form is on SQLite.

    `but` names the parameters with which it runs on PostgreSQL in `make test` too. The mark is a
    test's or its module's; `postgres_always` takes a test out of the module's.
    """
    mark = item.get_closest_marker("postgres_nightly")
    is_kept = item.get_closest_marker("postgres_always") is not None
    if mark is None or is_kept or not item.get_closest_marker("postgres"):
        return
    if mark.kwargs.get("but") != _parameters(item):
        short = item.nodeid.replace("postgresql", "sqlite")
        item.add_marker(pytest.mark.nightly(short=short))


def _parameters(item: pytest.Item) -> str:
    """Return the id of its parameters without that of the database."""
    parameters = item.nodeid.partition("[")[2].rpartition("]")[0]
    return "-".join(part for part in parameters.split("-") if part != "postgresql")


def check_marks(items: Sequence[pytest.Item]) -> list[str]:
    """Return the errors in the marks of these tests, one sentence each.

    A nightly test names its short form, `nightly(short="tests/…::test_…")`, which is a test
    that `make test` runs. A test that runs alone is nightly. Where a short form's file is not
    among `items`, only the existence of the file is checked.
    """
    files = {item.path for item in items}
    regular = [item for item in items if not any(map(item.get_closest_marker, _ELSEWHERE))]
    names = {name for item in regular for name in _names(item)}
    return list(dict.fromkeys([*_find_wrong(items, files, names), *_find_unmatched(items)]))


def _find_wrong(items: Sequence[pytest.Item], files: set[Path], names: set[str]) -> Iterator[str]:
    for item in items:
        mark = item.get_closest_marker("nightly")
        if mark is None:
            if item.get_closest_marker("alone"):
                yield f"{item.nodeid} is `alone`, which `make test` does not run: mark it nightly"
            continue
        short = mark.kwargs.get("short", "")
        path = item.config.rootpath / short.partition("::")[0]
        if mark.args or set(mark.kwargs) != {"short"}:
            yield f'{item.nodeid}: write pytest.mark.nightly(short="tests/…::test_…")'
        elif not path.is_file() or (path in files and short not in names):
            yield f"{item.nodeid}: its short form {short} is not a test that `make test` runs"


def _find_unmatched(items: Sequence[pytest.Item]) -> Iterator[str]:
    """Yield each `but` of `postgres_nightly` that matches no parameters of the test."""
    found: dict[tuple[str, str], bool] = {}
    for item in items:
        mark = item.get_closest_marker("postgres_nightly")
        if mark and item.get_closest_marker("postgres") and (but := mark.kwargs.get("but")):
            place = item.nodeid.partition("[")[0], but
            found[place] = found.get(place, False) or but == _parameters(item)
    for (name, but), is_matched in found.items():
        if not is_matched:
            yield f"{name}: no test on PostgreSQL has the parameters {but!r}"


def _names(item: pytest.Item) -> tuple[str, str]:
    """Return its id with and without parameters, as short forms name it."""
    group = item.get_closest_marker("xdist_group")
    # xdist appends the group to the id of each test that it spreads.
    name = item.nodeid.removesuffix(f"@{group.args[0]}") if group else item.nodeid
    return name, name.partition("[")[0]
