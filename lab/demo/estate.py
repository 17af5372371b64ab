"""Folders of the shop, and the files that arrive in them from outside."""

import csv
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

_CUSTOMERS = 200
_COUNTRIES = ("DE", "FR", "JP", "US")
_RATES = {"EUR": 1.0, "JPY": 0.0062, "USD": 0.91}
_STEP = 7  # amounts and currencies that vary, the same in every run


class Shop(msgspec.Struct, frozen=True):
    """Shop under a folder: `landing` is filled by others, the rest by its jobs."""

    folder: Path

    def land(self, *, newcomers: int) -> None:
        """Fill the landing folders again.

        Args:
            newcomers: customers who have not ordered yet.
        """
        customers = range(1, _CUSTOMERS + newcomers + 1)
        orders = ((n, n % _CUSTOMERS + 1, n % 50 + n / 100, _currency(n)) for n in range(2_000))
        self._csv("orders", ("order_id", "customer_id", "amount", "currency"), orders)
        self._csv("rates", ("currency", "rate"), _RATES.items())
        self._csv("stock", ("article", "place", "pieces"), _stock())
        self._json("customers", "customers", map(_customer, customers))
        (self.folder / "landing" / "clicks").mkdir(parents=True, exist_ok=True)

    def land_clicks(self, at: datetime) -> None:
        """Add one file of clicks by a rename: the stream never reads half a file."""
        pages = ("home", "basket", "checkout")
        clicks = (
            {"customer_id": n, "page": page, "clicked_at": at.isoformat()}
            for n, page in enumerate(pages, start=1)
        )
        # Named as Spark and Hive name the files of one dataset, so that each is not one of its own.
        self._json("clicks", f"part-00000-{at:%Y%m%d%H%M%S%f}", clicks)

    def _csv(self, name: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
        path = self.folder / "landing" / name / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *rows])

    def _json(self, name: str, stem: str, rows: Iterable[dict[str, object]]) -> None:
        path = self.folder / "landing" / name / f"{stem}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f"_{stem}")  # Spark passes over names that begin so
        scratch.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        scratch.rename(path)


def _currency(number: int) -> str:
    return list(_RATES)[number * _STEP % len(_RATES)]


def _customer(number: int) -> dict[str, object]:
    country = _COUNTRIES[number % len(_COUNTRIES)]
    return {"customer_id": number, "name": f"customer {number}", "country": country}


def _stock() -> Iterable[tuple[str, str, int]]:
    return ((f"article {n}", f"place {n % 3}", n * _STEP % 40) for n in range(60))
