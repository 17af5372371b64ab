"""Events of PagerDuty: a signed event becomes a command, any other is rejected."""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import Connection, select

from alerts.notify.channels.pagerduty.webhooks import (
    PagerDutyAction,
    parse_action,
    verify_signature,
)
from alerts.operator_actions.audit import storable_text
from alerts.operator_actions.command_requests import CommandRequest, is_incident_id
from lineage.catalog.tables import incident
from lineage.errors import NotNowError, UnknownIncidentError
from service.incidents.incident_commands import acting, put
from service.incidents.webhook_secret import read_signing_secret
from service.runtime.settings import Settings

MAX_BODY_BYTES: Final = 1 << 20
_MOST_MERGES: Final = 20
_log = structlog.get_logger(__name__)


class PagerDutyInbox:
    """Takes events of a webhook subscription. For several threads at once."""

    def __init__(self, settings: Settings, secret_file: Path | None) -> None:
        self._settings = settings
        self._secret_file = secret_file

    @property
    def is_set(self) -> bool:
        """Return whether a file with the secret is set."""
        return self._secret_file is not None

    def take(self, body: bytes, signatures: str | None, now: datetime) -> bool:
        """Write down the command that an event is; return whether PagerDuty signed it.

        A command that comes to nothing is in the audit log, and is no error of PagerDuty's: it
        would repeat the event, and end the subscription after enough of these.

        Raises:
            RequestError: it is PagerDuty's, and no event.
        """
        if not verify_signature(body, signatures, read_signing_secret(self._secret_file)):
            return False
        did = parse_action(body)
        if did is not None and is_incident_id(did.dedup_key):
            self._put(did, now)
        return True

    def _put(self, did: PagerDutyAction, now: datetime) -> None:
        with acting(self._settings) as connection:
            number = _standing_for(connection, did.dedup_key)
        once = hashlib.sha256(did.event_id.encode()).hexdigest()[:32]
        wanted = CommandRequest(
            incident_id=number,
            action=did.action,
            by=storable_text(did.by, 100),
            via="pagerduty",
            request_id=f"pagerduty {once}",
        )
        try:
            put(self._settings, wanted, now)
        except (NotNowError, UnknownIncidentError) as error:
            _log.info("pagerduty_event_rejected", incident=number, reason=str(error))


def _standing_for(connection: Connection, dedup_key: str) -> str:
    """Return the incident of an alert: where that was merged, the one that it merged into."""
    number = dedup_key
    for _ in range(_MOST_MERGES):
        own = select(incident.c.merged_into).where(incident.c.incident_id == number)
        older = connection.scalar(own)
        if older is None:
            break
        number = str(older)
    return number
