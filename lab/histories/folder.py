"""Folder of publishing histories: when each dataset was written, with labelled gaps.

`index.csv` names the files, `labels.csv` each gap that is not plain normal, and each file holds one
unix time a line. `docs/benchmarks.md` describes the columns.
"""

import csv
import re
from pathlib import Path

import msgspec
import numpy as np

from lineage.process.clock import SECOND_MICROS
from slis.cadence.working_week import Micros

# Only an alarm in a normal gap is a false one. Nothing is counted in an unclear gap.
NORMAL, OUTAGE, HOLIDAY, LATE = "normal", "outage", "holiday", "late"
MISSED_SLOT, PLANNED_CHANGE, UNCLEAR = "missed_slot", "planned_change", "unclear"
# Classes that promise a next write on a day.
SCHEDULED = ("daily", "weekday", "few a week", "weekly")
_CLASS = re.compile(r"^\s*(.+?) \((\d+) gaps?\)\s*$", re.MULTILINE)


class InvalidHistoriesError(ValueError):
    """Folder of histories lacks a file, or a file has another format."""


class WriteHistory(msgspec.Struct, frozen=True):
    """Writes of one dataset, with the label and class of each gap between them.

    Attributes:
        written_at: microseconds UTC, in order, each once.
        labels: of the gap after each write but the last.
        classes: likewise.
    """

    name: str
    repository: str
    written_at: Micros
    labels: list[str]
    classes: list[str]


class _Label(msgspec.Struct, frozen=True):
    start: int
    label: str
    cadence: str


def read_histories(folder: Path) -> list[WriteHistory]:
    """Read the histories that a folder's index names.

    Raises:
        InvalidHistoriesError: a file is missing, or has another format.
    """
    labels: dict[str, list[_Label]] = {}
    try:
        for row in _rows(folder / "labels.csv"):
            label = _Label(int(row["start"]), row["label"], row["class"])
            labels.setdefault(row["series"], []).append(label)
        return [_history(folder, row, labels) for row in _rows(folder / "index.csv")]
    except (OSError, ValueError, KeyError) as error:
        raise InvalidHistoriesError(f"{folder}: {type(error).__name__}: {error}") from error


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _history(folder: Path, row: dict[str, str], labels: dict[str, list[_Label]]) -> WriteHistory:
    # Labels name a series, which is the file without the last `.csv`; some files have one only.
    series = row["file"].removesuffix(".csv")
    path = folder / (row["file"] if (folder / row["file"]).exists() else series)
    at = np.unique(np.loadtxt(path, dtype=np.int64, ndmin=1))
    own = sorted(labels.get(series, []), key=lambda label: label.start)
    by_start = {label.start: label.label for label in own}
    return WriteHistory(
        name=series,
        repository=row["repository"],
        written_at=at * SECOND_MICROS,
        labels=[by_start.get(start, NORMAL) for start in at[:-1].tolist()],
        classes=_classes(at[:-1], row["class_seen"], own),
    )


def _classes(starts: Micros, seen: str, labels: list[_Label]) -> list[str]:
    """Return the class of each gap: the only one, else the nearest label's, else the usual one.

    Args:
        starts: of the gaps, in seconds.
        seen: `weekly (128 gaps); weekday (398 gaps)`.
        labels: of this history, in order.
    """
    counts = {name: int(gaps) for name, gaps in _CLASS.findall(seen.replace("; ", "\n"))}
    if not counts:
        raise ValueError(f"class_seen: expected `daily (12 gaps)`, got {seen[:80]!r}")
    usual = max(counts, key=counts.__getitem__)
    named = [label for label in labels if label.cadence in counts]
    if len(counts) == 1 or not named:
        return [usual] * starts.size
    at = np.array([label.start for label in named])
    borders = (at[1:] + at[:-1]) / 2
    return [named[place].cadence for place in np.searchsorted(borders, starts)]
