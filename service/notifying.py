"""Incidents and messages: the works of the service that find faults and tell people of them."""

from pathlib import Path

import structlog
from sqlalchemy import Engine

from alerts.delivery.sender import Sender
from alerts.delivery.settings import DeliverySettings
from alerts.delivery.transports import transports_of
from alerts.routing.settings import RoutingSettings
from alerts.watch.desk import Desk
from alerts.watch.watch import Watch
from lineage.clock import Clock, system_clock
from lineage.policy import Policy, PolicyError
from lineage.policy.file import PolicyFile
from service.bookkeeping import Work
from service.diagnosis.diagnose import Diagnostician
from service.settings import Settings

_log = structlog.get_logger(__name__)


def works(
    settings: Settings,
    routing: RoutingSettings,
    delivery: DeliverySettings,
    clock: Clock = system_clock,
) -> list[Work]:
    """What is to be done each second, in this order."""
    policy = _Policy(settings.policy)
    given = (clock, policy.current, routing)
    return [
        policy.then(Watch(*given)),
        Diagnostician(settings.catalog),
        policy.then(Desk(*given)),
        Sending(delivery, clock),
    ]


class Sending:
    """Has the sender look for what is due; what is slow to send holds up nothing here."""

    def __init__(self, settings: DeliverySettings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._sender: Sender | None = None

    def __call__(self, engine: Engine) -> None:
        """Begin with all that is due."""
        if self._sender is None:
            ways = transports_of(self._settings, clock=self._clock)
            self._sender = Sender(engine, ways, self._settings, clock=self._clock)
        self._sender.begin()


class _Policy:
    """The policy in force, once there is one that is right."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: PolicyFile | None = None
        self._refused = ""

    def current(self) -> Policy:
        """The newest that was right.

        Raises:
            PolicyError: none was, since this process began.
        """
        if self._file is None:
            self._file = PolicyFile(self._path)
        return self._file.current()

    def then(self, work: Work) -> Work:
        """The work, left out while nobody knows whom to tell: a default policy tells nobody."""

        def run(engine: Engine) -> None:
            try:
                self.current()
            except PolicyError as error:
                self._say(str(error))
                return
            work(engine)

        return run

    def _say(self, refused: str) -> None:
        if refused != self._refused:
            _log.error("notifier_without_policy", error=refused)
            self._refused = refused
