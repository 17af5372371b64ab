"""The shop with one fault that somebody is paged for, and a hand on the clock."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, insert, text, update

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.clock import to_micros
from service.impact.analysis import ImpactAnalyst
from tests.service import shop

NOW = datetime.fromisoformat("2026-11-21T12:00:00+00:00")
MINUTE = 60_000_000
CORE = shop.dataset_key(shop.CORE)


class Estate:
    """The shop, evaluated an hour ago for the first time, and a hand on the clock."""

    def __init__(self, catalog: Engine) -> None:
        self.catalog = catalog
        self.now = NOW
        self.analyst = ImpactAnalyst(lambda: self.now)
        shop.fill(catalog, evaluated_at=NOW - timedelta(hours=1))
        self.failed(minutes_ago=5)

    def failed(self, *, minutes_ago: float) -> None:
        """`core/orders` failed so long ago, told by a live event."""
        at = to_micros(self.now) - int(minutes_ago * MINUTE)
        self.change(
            update(tables.dataset_activity)
            .where(tables.dataset_activity.c.dataset_key == CORE)
            .values(last_failed_at=at, last_failed_run_id=shop.RUN_ID)
        )

    def state(self, sli: str = "M2", **values: Any) -> None:  # noqa: ANN401 - of any column
        """Change a state of `core/orders`."""
        table = tables.dataset_state
        its = (table.c.dataset_key == CORE) & (table.c.sli == sli)
        self.change(update(table).where(its).values(**values))

    def change(self, statement: Any) -> None:  # noqa: ANN401 - any statement
        """Write to the catalog, as the pipeline does."""
        with writing(self.catalog) as connection:
            connection.execute(statement)

    def evaluate(self, *, after: timedelta = timedelta(seconds=15)) -> None:
        """A new evaluation; the analyst sees it ten seconds later."""
        self.now += after
        at = {"as_of": to_micros(self.now), "last_seq": 10, "policy_hash": "", "datasets": 4}
        self.change(insert(tables.evaluation).values(seconds=1.0, **at))
        self.now += timedelta(seconds=10)
        self.analyst(self.catalog)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the catalog answers."""
        with self.catalog.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]
