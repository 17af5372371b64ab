"""Budget of rejections of one address: beyond it no audit row is written, and then 429 answers."""

import threading
from collections.abc import Callable
from typing import Final, Literal

import msgspec

WINDOW_SECONDS: Final = 10.0
_MOST_ADDRESSES: Final = 10_000
_ALL = ""
BudgetDecision = Literal["own_row", "grouped", "too_many"]


class BudgetBounds(msgspec.Struct, frozen=True):
    """Bounds of one window: `rows` of one address, `all_rows` of all addresses together."""

    rows: int = 100
    all_rows: int = 300
    answers: int = 250


class RequestBudget:
    """Counter by address within windows that follow one another. For several threads at once."""

    def __init__(self, monotonic: Callable[[], float], bounds: BudgetBounds | None = None) -> None:
        self._monotonic = monotonic
        self._bounds = bounds or BudgetBounds()
        self._lock = threading.Lock()
        self._began = monotonic()
        self._spent: dict[str, int] = {}

    def spend(self, address: str) -> BudgetDecision:
        """Note one rejection of this address; how it is to be answered."""
        with self._lock:
            now = self._monotonic()
            if now - self._began >= WINDOW_SECONDS or len(self._spent) > _MOST_ADDRESSES:
                self._began, self._spent = now, {}
            mine, everybody = self._add(address), self._add(_ALL)
        if mine > self._bounds.answers:
            return "too_many"
        is_row = mine <= self._bounds.rows and everybody <= self._bounds.all_rows
        return "own_row" if is_row else "grouped"

    def _add(self, counted: str) -> int:
        self._spent[counted] = self._spent.get(counted, 0) + 1
        return self._spent[counted]


class RejectionCounts:
    """Rejections without a row of their own, by reason, since they were taken last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}

    def add(self, reason: str, count: int = 1) -> None:
        """Note some."""
        with self._lock:
            self._counts[reason] = self._counts.get(reason, 0) + count

    def take(self) -> dict[str, int]:
        """Return and reset all counts."""
        with self._lock:
            taken, self._counts = self._counts, {}
            return taken
