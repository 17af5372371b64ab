"""Notes in the catalog by which policy each role goes, for `lineward status` and the metrics."""

from collections.abc import Callable

import msgspec
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import POLICY_IN_FORCE
from lineage.catalog.upsert import fold_rows
from lineage.policy.file import PolicyState


class PolicyNotes:
    """Writes a role's standing when it changed."""

    def __init__(self, role: str, standing: Callable[[], PolicyState]) -> None:
        self._name = f"{POLICY_IN_FORCE}{role}"
        self._standing = standing
        self._noted: PolicyState | None = None

    def __call__(self, engine: Engine) -> None:
        """Note the standing, unless that is what stands there."""
        standing = self._standing()
        if standing == self._noted:
            return
        value = msgspec.json.encode(standing).decode()
        meta = tables.meta
        with engine.connect() as connection:
            is_known = connection.scalar(select(meta.c.value).where(meta.c.name == self._name))
        if is_known != value:
            with write_transaction(engine) as connection:
                fold_rows(connection, meta, [{"name": self._name, "value": value}])
        self._noted = standing
