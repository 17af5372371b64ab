"""Notes in the catalog on policies: which one each role uses, for status and metrics.

After a restart they say what the last valid policy was, and whether the API asked for tokens.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import POLICY_IN_FORCE
from lineage.catalog.reader import NoCatalogError, open_reader
from lineage.catalog.upsert import fold_rows
from lineage.policy.file import PolicyState
from lineage.policy.model import Policy

ACCESS_OFF: Final = "off"  # the hash of the version that lets anybody ask
_NEWEST = "SELECT hash FROM access_version ORDER BY in_force_from DESC LIMIT 1"


class PolicyNotes:
    """Writer of the policy that a role uses, when it changed."""

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


class _Stored(msgspec.Struct, frozen=True):
    hash: str
    policy: Policy


def encode_policy(policy: Policy) -> str:
    """Return the policy as JSON, without `access` and `people`."""
    # What a restored policy does not have it cannot let in.
    public = msgspec.structs.replace(policy, access=msgspec.UNSET, people=())
    return msgspec.json.encode(_Stored(policy.hash, public)).decode()


def decode_policy(text: str) -> Policy:
    """Return the policy that `encode_policy` stored, under the hash of the whole one.

    Raises:
        msgspec.ValidationError: another release stored the policy, and this one cannot read it.
    """
    stored = msgspec.json.decode(text, type=_Stored)
    # Notifications compare hashes: another one would mean that every owner may have changed.
    stored.policy.__dict__["hash"] = stored.hash
    return stored.policy


class StoredAccess:
    """Access as it was in force before this process; read once, from a catalog that is there."""

    def __init__(self, catalog_url: str) -> None:
        self._url = catalog_url
        self._was_in_force: bool | None = None
        self._is_read = False

    def __call__(self) -> bool | None:
        """Return whether access was in force; None while the catalog could not be read."""
        return self._was_in_force

    def look(self, _engine: object = None) -> None:
        """Read the catalog, unless that succeeded before.

        Raises:
            CatalogError: the catalog cannot be read.
        """
        if self._is_read:
            return
        try:
            self._was_in_force = _read(self._url)
            self._is_read = True
        except NoCatalogError:
            # A database that is being restored has no tables yet: the next call reads again.
            self._was_in_force = False


def _read(catalog_url: str) -> bool:
    with open_reader(catalog_url) as reader:
        rows = reader.rows(_NEWEST)
    return bool(rows) and rows[0][0] != ACCESS_OFF
