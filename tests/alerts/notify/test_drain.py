"""Leader that drains: it claims no message, and the next leader sends them at once."""

import pytest
from sqlalchemy import Engine, select

from alerts.notify.channels.channel import ChannelTask, Sent
from alerts.notify.sender import Sender
from lineage.catalog.leases import LeadershipFence, leading, try_take
from lineage.catalog.tables import notification
from lineage.lease_rules import LeaseLostError
from tests.alerts.notify.conftest import TICKETS, Notifier
from tests.alerts.notify.messages import message


class Leaving:
    """Channel during whose send the leader drains or loses its lease."""

    def __init__(self, notifier: Notifier, way: str) -> None:
        self._way, self._has_lease = way, True
        engine = leading(notifier.engine, LeadershipFence("service", 1, self._confirm))
        self.sender = Sender(engine, {"webhook": self}, notifier.settings, clock=notifier.clock)

    def send(self, _task: ChannelTask) -> Sent:
        """Accept the message, and leave."""
        if self._way == "drain":
            self.sender.drain(0)
        else:
            self._has_lease = False
        return Sent()

    def _confirm(self) -> None:
        if not self._has_lease:
            raise LeaseLostError("given up")


def _attempts(engine: Engine) -> list[tuple[str, int, bool]]:
    columns = (notification.c.state, notification.c.attempts, notification.c.doubt_since)
    with engine.connect() as connection:
        rows = connection.execute(select(*columns).order_by(notification.c.incident_id)).all()
    return [(state, attempts, doubt is not None) for state, attempts, doubt in rows]


@pytest.mark.parametrize("way", ["drain", "lease"])
def test_leader_that_leaves_claims_no_further_message(notifier: Notifier, way: str):
    """Send the first of two messages: the other one is due at once, and not in doubt."""
    try_take(notifier.engine, "service", "one", 10)
    notifier.notify(message(1), TICKETS)
    notifier.notify(message(1, incident_id="inc-2"), TICKETS)
    leaving = Leaving(notifier, way)
    leaving.sender.begin()
    leaving.sender.close()

    (sent, *_), waiting = _attempts(notifier.engine)
    assert (sent, waiting) == ("sent", ("waiting", 0, False))
