"""CPU time and memory of processes with their children: Spark's JVM, Python workers."""

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def _parents() -> Iterator[tuple[int, int]]:
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            yield int(entry.name), int(fields[1])


def tree(*roots: int) -> set[int]:
    """Return these processes (none: this one) and all that they started."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, frontier = set[int](), [*roots] or [os.getpid()]
    while frontier:
        pid = frontier.pop()
        found.add(pid)
        frontier += children.get(pid, [])
    return found


class CpuMeter:
    """CPU time that the tree has taken since the meter was made.

    Of a process that ended in between nothing is known: Spark's daemon does not wait for its
    workers, so that the kernel forgets what they used. A worker that has nothing to do ends.
    """

    def __init__(self, *roots: int) -> None:
        """Begin to count for the tree of these processes; none: of this one."""
        self._roots = roots
        self._before = _ticks_by_process(*roots)

    def seconds(self) -> float:
        """Return seconds of CPU so far."""
        now = _ticks_by_process(*self._roots)
        return sum(ticks - self._before.get(pid, 0) for pid, ticks in now.items()) / _TICKS


def _ticks_by_process(*roots: int) -> dict[int, int]:
    ticks: dict[int, int] = {}
    for pid in tree(*roots):
        try:
            fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks[pid] = sum(int(field) for field in fields[11:13])
    return ticks


def memory_bytes(*roots: int) -> int:
    """Return the memory of these processes and their children; none: of this one.

    Shared pages are counted once.
    """
    total = 0
    for pid in tree(*roots):
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024
