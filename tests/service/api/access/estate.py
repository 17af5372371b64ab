"""Guarded API with two namespaces, tokens for both, and a clock that tests set."""

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from litestar.testing import TestClient
from sqlalchemy import Engine, insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.api.access.guard import Guard
from service.api.app import create_app
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings
from tests.service import shop

NOW = datetime.fromisoformat("2026-11-21T12:00:00+00:00")
HIDDEN = "s3://shop-secret"  # begins like the shop's own
PAYROLL = "payroll/salaries"
TOKENS = {name: f"{name}-0123456789abcdef" for name in ("boss", "shop", "clerk", "late")}
POLICY = """\
access:
  tokens:
    - {name: boss, sha256: %(boss)s, roles: [admin]}
    - {name: shop, sha256: %(shop)s, roles: [read], namespaces: ["s3://shop", "hive://shop"]}
    - {name: clerk, token_file: clerk.token, roles: [read]}
    - {name: late, sha256: %(late)s, roles: [read], expires: 2026-11-21T12:30:00Z}
"""


class Estate:
    """API over the shop, with a hidden dataset on each side of `core/orders`."""

    def __init__(self, catalog: Engine, folder: Path) -> None:
        self.catalog = catalog
        self.now = NOW
        self.policy = folder / "lineward.yaml"
        self.token_file = folder / "clerk.token"
        self.token_file.write_text(TOKENS["clerk"])
        self.write_policy(POLICY)
        shop.fill(catalog, evaluated_at=NOW)
        self._hide()
        url = catalog.url.render_as_string(hide_password=False)
        self.settings = Settings(catalog_url=url, policy=self.policy, data_dir=folder)
        self.restart()

    def restart(self) -> None:
        """Start a new process over the same catalog and policy."""
        self.guard = Guard(self.settings, lambda: self.now, immediate_policy(self.policy))
        app = create_app(self.settings, clock=lambda: self.now, guard=self.guard)
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        self.client: TestClient[Any] = client

    def write_policy(self, policy: str) -> None:
        """Replace the file; `%(NAME)s` is the hash of that token."""
        hashes = {n: hashlib.sha256(t.encode()).hexdigest() for n, t in TOKENS.items()}
        scratch = self.policy.with_suffix(".new")
        scratch.write_text(policy % hashes)
        scratch.replace(self.policy)

    def get(self, path: str, who: str | None = "boss", **headers: str) -> httpx.Response:
        """Ask, as the bearer of this one's token; None: of none."""
        shown = {} if who is None else {"Authorization": self.shown(who)}
        answer: httpx.Response = self.client.get(path, headers={**shown, **headers})
        return answer

    def shown(self, who: str) -> str:
        """Return the header with the token of this name."""
        return f"Bearer {TOKENS.get(who, who)}"

    def judge(self, *, after: timedelta = timedelta(seconds=1)) -> None:
        """Advance the clock by a second, and judge what was served."""
        self.now += after
        self.guard.count(self.catalog)
        self.guard.judge(self.catalog)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query to the catalog."""
        with self.catalog.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]

    @property
    def m10(self) -> tuple[Any, ...] | None:
        """Return good, total and unknown, or None without a sample."""
        found = self.rows("SELECT good, total, unknown FROM served_counter WHERE sli = 'M10'")
        return found[0] if found else None

    def counts(self, metric: str) -> dict[str, float]:
        """Return the values of a counter by label."""
        rows = self.rows("SELECT metric, label, value FROM served_count")
        return {label: value for name, label, value in rows if name == metric}

    def _hide(self) -> None:
        shop.add_dataset(self.catalog, HIDDEN, PAYROLL)
        hidden, core = key(HIDDEN, PAYROLL), shop.dataset_key(shop.CORE)
        edges = [_edge(hidden, core), _edge(core, hidden)]
        reads = {"dataset_key": hidden, "run_key": 1, "direction": "read", "has_statistics": False}
        at = {"first_event_at": 0, "last_event_at": 0, "landed_at": 0, "is_reported": True}
        with write_transaction(self.catalog) as connection:
            connection.execute(insert(tables.edge), edges)
            connection.execute(insert(tables.run_io), {**reads, **at})


def immediate_policy(policy: Path) -> PolicyInForce:
    """Return a policy in force that reads a changed file at once."""
    return PolicyInForce(policy, settle_seconds=0)


def _edge(upstream: int, downstream: int) -> dict[str, Any]:
    names = {"job_key": 7, "job_namespace": "jobs", "job_name": "etl"}
    seen = {"first_seen_at": 0, "last_seen_at": 0, "runs": 3}
    return {"upstream_key": upstream, "downstream_key": downstream, **names, **seen}
