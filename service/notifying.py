"""Incidents and messages: the works of the service that find faults and tell people of them."""

import structlog
from sqlalchemy import Engine

from alerts.delivery.renewed import requeue_renewed
from alerts.delivery.sender import Sender
from alerts.delivery.settings import DeliverySettings
from alerts.delivery.transports import transports_of
from alerts.routing.settings import RoutingSettings
from alerts.watch.desk import Desk
from alerts.watch.watch import Watch
from lineage.clock import Clock, system_clock, to_micros
from service.bookkeeping import Work
from service.diagnosis.diagnose import Diagnostician
from service.errors import RefusedInputError
from service.policies import PolicyInForce
from service.role_troubles import RoleTroubles
from service.settings import Settings

_log = structlog.get_logger(__name__)


def works(
    settings: Settings,
    routing: RoutingSettings,
    delivery: DeliverySettings,
    clock: Clock = system_clock,
    policy: PolicyInForce | None = None,
) -> list[Work]:
    """Return what is done each second, in this order: nothing here waits for anything slow."""
    policy = policy or PolicyInForce(settings.policy)
    once = _OncePolicyIsRight(policy)
    given = (clock, policy.current, routing)
    return [
        once.then(Watch(*given, RoleTroubles(settings, clock))),
        once.then(Desk(*given)),
        Sending(delivery, clock),
    ]


def diagnosis(settings: Settings) -> list[Work]:
    """What may take a minute, in a thread of its own: pages do not wait for it."""
    return [Diagnostician(settings.catalog)]


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
        requeue_renewed(engine, self._settings, to_micros(self._clock()))
        self._sender.begin()


class _OncePolicyIsRight:
    """Has work done once there is a policy: a default one would tell nobody."""

    def __init__(self, policy: PolicyInForce) -> None:
        self._policy = policy
        self._refused = ""

    def then(self, work: Work) -> Work:
        """The work, left out while nobody knows whom to tell."""

        def run(engine: Engine) -> None:
            try:
                self._policy.current()
            except RefusedInputError as error:
                self._say(str(error))
                return
            work(engine)

        run.__qualname__ = type(work).__qualname__  # as logs name it
        return run

    def _say(self, refused: str) -> None:
        if refused != self._refused:
            _log.error("notifier_without_policy", error=refused)
            self._refused = refused
