"""What this process and its children (Spark's JVM.

Python workers) take of the machine, from /proc.
"""

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


def tree() -> set[int]:
    """This process and all that it started."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, frontier = set[int](), [os.getpid()]
    while frontier:
        pid = frontier.pop()
        found.add(pid)
        frontier += children.get(pid, [])
    return found


def cpu_seconds() -> float:
    """CPU time of the tree so far, that of its ended members included."""
    ticks = 0
    for pid in tree():
        try:
            fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / _TICKS


def memory_bytes() -> int:
    """Memory of the tree; pages that its members share are counted once."""
    total = 0
    for pid in tree():
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024
