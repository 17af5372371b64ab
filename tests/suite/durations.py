"""Durations of tests: written by `make test`, compared by `make durations`.

A file has one line a test: seconds for setup, call and teardown, a tab, the test's id. The file of
the run before is kept beside it, with `.before` at its end.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

_SHOWN = 15
_LEAST_SECONDS = 1.0
_GROUP = re.compile(r"@[\w-]+$")  # xdist adds it to the id
Seconds = Mapping[str, float]


class Recorder:
    """Plugin of pytest that adds up the durations of all workers, and writes them at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test."""
        self._seconds[_GROUP.sub("", report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the file, and keep the one before."""
        write(self._path, self._seconds)


def before(path: Path) -> Path:
    """Return the path of the run before."""
    return path.with_name(f"{path.name}.before")


def write(path: Path, seconds: Seconds) -> None:
    """Write the durations, longest first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.replace(before(path))
    longest = sorted(seconds.items(), key=lambda each: (-each[1], each[0]))
    path.write_text("".join(f"{spent:.3f}\t{name}\n" for name, spent in longest), encoding="utf-8")


def read(path: Path) -> dict[str, float]:
    """Return seconds by test."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: float(spent) for spent, name in (line.split("\t", 1) for line in lines)}


def compare(old: Seconds, new: Seconds) -> Iterator[str]:
    """Yield the lines of a comparison: the sums, and what changed most."""
    sums = sum(old.values()), sum(new.values())
    yield f"{len(old)} tests took {sums[0]:.0f} s, {len(new)} take {sums[1]:.0f} s"
    yield from _changes("file", _by_file(old), _by_file(new))
    yield from _changes("test", old, new)


def _by_file(seconds: Seconds) -> Seconds:
    files: dict[str, float] = defaultdict(float)
    for name, spent in seconds.items():
        files[name.partition("::")[0]] += spent
    return files


def _changes(kind: str, old: Seconds, new: Seconds) -> Iterator[str]:
    changed = {name: new.get(name, 0.0) - old.get(name, 0.0) for name in {*old, *new}}
    most = sorted(changed, key=lambda name: (-abs(changed[name]), name))
    most = [name for name in most if abs(changed[name]) >= _LEAST_SECONDS][:_SHOWN]
    if not most:
        yield f"no {kind} changed by {_LEAST_SECONDS:.0f} s or more"
        return
    yield f"{'change':>9} {'before':>9} {'now':>9}  {kind}"
    for name in most:
        figures = (_cell(old.get(name)), _cell(new.get(name)))
        yield f"{changed[name]:>+8.1f}s {figures[0]:>9} {figures[1]:>9}  {name}"


def _cell(spent: float | None) -> str:
    return "-" if spent is None else f"{spent:.1f}s"


def main(paths: list[Path]) -> int:
    """Print each file beside the previous one; return 1 without a previous one."""
    pairs = [path for path in paths if path.exists() and before(path).exists()]
    for path in pairs:
        print(path)  # noqa: T201 - a command's output
        print("\n".join(compare(read(before(path)), read(path))))  # noqa: T201 - as above
    if not pairs:
        print("nothing to compare: run `make test` twice", file=sys.stderr)  # noqa: T201 - as above
    return int(not pairs)


if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]]))
