"""Chooses the policy for incidents and notifications, also while none is in force.

A service that starts with an invalid file answers nobody, since it does not know who may ask. It
knows from the catalog whom to notify: the last valid policy is stored there.
"""

import msgspec
import structlog
from sqlalchemy import Connection, Engine, select

from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import LAST_POLICY
from lineage.catalog.policy_notes import decode_policy, encode_policy
from lineage.catalog.tables import meta
from lineage.catalog.upsert import fold_rows
from lineage.policy import DEFAULT, Policy
from service.errors import RejectedInputError
from service.runtime.policies import PolicyInForce

_log = structlog.get_logger(__name__)


class NotificationPolicy:
    """Call it once a second, before what asks for `current`."""

    def __init__(self, in_force: PolicyInForce) -> None:
        self._in_force = in_force
        self._last: Policy | None = None
        self._last_text = ""
        self._saved = ""  # hash of what this process stored
        self._logged = ""

    def __call__(self, engine: Engine) -> None:
        """Store the policy in force; without one, load the policy that was stored last."""
        try:
            policy = self._in_force.current()
        except RejectedInputError as error:
            self._load(engine, str(error))
            return
        if policy.hash != self._saved:
            _save(engine, encode_policy(policy))
            self._saved = policy.hash

    def current(self) -> Policy:
        """Return the policy in force, or else the last valid one.

        Raises:
            RejectedInputError: none is in force, and the catalog was not asked yet.
        """
        try:
            return self._in_force.current()
        except RejectedInputError:
            if self._last is None:
                raise
            return self._last

    def _load(self, engine: Engine, error: str) -> None:
        with engine.connect() as connection:
            text = _stored(connection)
        # Another service may have a valid file, and store a newer policy.
        if self._last is None or text != self._last_text:
            self._last, self._last_text = _decoded(text), text
        self._log_once(error, self._last)

    def _log_once(self, error: str, policy: Policy) -> None:
        if error + policy.hash != self._logged:
            is_stored = policy is not DEFAULT
            _log.error(
                "notifier_without_policy", error=error, is_stored=is_stored, hash=policy.hash
            )
            self._logged = error + policy.hash


def _decoded(text: str) -> Policy:
    """Return the stored policy; where there is none, the default, which has no owner to notify."""
    if not text:
        return DEFAULT
    try:
        return decode_policy(text)
    except msgspec.ValidationError as error:
        _log.warning("stored_policy_unreadable", error=str(error)[:300])
        return DEFAULT


def _stored(connection: Connection) -> str:
    return connection.scalar(select(meta.c.value).where(meta.c.name == LAST_POLICY)) or ""


def _save(engine: Engine, text: str) -> None:
    with engine.connect() as connection:
        if _stored(connection) == text:
            return
    with write_transaction(engine) as connection:
        fold_rows(connection, meta, [{"name": LAST_POLICY, "value": text}])
