"""Budget of rejections of one address: beyond it no audit row is written, and then 429 answers."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Final, Literal

import msgspec

WINDOW_SECONDS: Final = 10.0
_MOST_ADDRESSES: Final = 10_000
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
        self._spent: Counter[str] = Counter()
        self._spent_by_all = 0

    def spend(self, address: str) -> BudgetDecision:
        """Note one rejection of this address; how it is to be answered."""
        with self._lock:
            now = self._monotonic()
            if now - self._began >= WINDOW_SECONDS or len(self._spent) > _MOST_ADDRESSES:
                self._began, self._spent, self._spent_by_all = now, Counter(), 0
            self._spent[address] += 1
            self._spent_by_all += 1
            mine, everybody = self._spent[address], self._spent_by_all
        if mine > self._bounds.answers:
            return "too_many"
        is_row = mine <= self._bounds.rows and everybody <= self._bounds.all_rows
        return "own_row" if is_row else "grouped"


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
