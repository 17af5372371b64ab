"""SQL that tests run on PostgreSQL: `make test` runs each statement that `make nightly` runs.

`make nightly` records the statements, a file of JSON lines for each worker, and reads them here. A
test that is nightly on PostgreSQL (`postgres_nightly`) repeats statements of others; a test with
its own statements has to run in `make test`. Queries of the test itself do not count.
"""

import json
import os
import re
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from slis.evaluation import catalog_frames
from slis.stream.staging import staging

_DIALECT = "postgresql"
_ROOT = Path(__file__).resolve().parents[2]
_SPACE, _NUMBER = re.compile(r"\s+"), re.compile(r"\d+")
_VALUE = r"%\(\w+\)s(?:::[A-Z ]+)?"
_VALUES = re.compile(rf"{_VALUE}(?:, {_VALUE})+")
_ROWS = re.compile(r"\(%values\)(?:, \(%values\))+")


class Statements:
    """Plugin of pytest that writes the SQL of each test on PostgreSQL."""

    def __init__(self, folder: Path) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{worker or 'alone'}.jsonl"
        for old in folder.glob("*.jsonl") if worker is None else ():
            old.unlink()
        self._executed: set[str] = set()
        event.listen(Engine, "before_cursor_execute", self._note)
        self._note_what_passes_by()

    def _note(self, connection, _cursor, statement: str, *_: object) -> None:
        if connection.dialect.name == _DIALECT and not is_of_a_test():
            self._executed.add(shape(statement))

    def _note_what_passes_by(self) -> None:
        """Record also reads by ADBC and copied rows: SQLAlchemy sees neither."""
        read, copy = catalog_frames._from_postgresql, staging._copy  # noqa: SLF001

        def noted_read(engine, query: str):
            self._executed.add(shape(query))
            return read(engine, query)

        def noted_copy(connection, table, *given: object) -> None:
            self._executed.add(f"COPY {table.name}")
            copy(connection, table, *given)

        catalog_frames._from_postgresql, staging._copy = noted_read, noted_copy  # noqa: SLF001

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Write the statements of the test, without those of its fixtures."""
        self._executed.clear()
        yield
        if self._executed:
            is_nightly = item.get_closest_marker("nightly") is not None
            line = json.dumps([item.nodeid, is_nightly, sorted(self._executed)])
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def is_of_a_test() -> bool:
    """Return whether the test itself, and no product code that it calls, executes the statement."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect` would read the source of each frame
    while frame := frame.f_back:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_ROOT) and not path.is_relative_to(_ROOT / ".venv"):
            return path.is_relative_to(_ROOT / "tests")
    return False


def shape(statement: str) -> str:
    """Return the statement without its numbers, and with one value for many."""
    text = _NUMBER.sub("N", _SPACE.sub(" ", statement))
    return _ROWS.sub("(%values)", _VALUES.sub("%values", text))


def left_out(recorded: Sequence[list]) -> Iterator[str]:
    """Yield each nightly test with a statement that no test of `make test` executes."""
    regular = {each for _, is_nightly, found in recorded if not is_nightly for each in found}
    for name, is_nightly, found in recorded:
        if is_nightly and (alone := [each for each in found if each not in regular]):
            yield f"{name}: `make test` does not run on PostgreSQL: {alone[0][:300]}"


def read(folder: Path) -> Iterator[list]:
    """Yield the lines of all workers."""
    for path in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def main(folder: Path) -> int:
    """Print the statements left out; return 1 for any, or without records."""
    recorded = list(read(folder))
    found = list(left_out(recorded)) if recorded else [f"{folder}: nothing was recorded"]
    print("\n".join(found))  # noqa: T201 - a command's output
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
