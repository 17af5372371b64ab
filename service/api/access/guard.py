"""Parts that guard an API: the policy in force, the audit log, the count of responses."""

import time

from litestar.middleware import DefineMiddleware

from lineage.process.clock import Clock, system_clock, to_micros
from service.api.access.access_auditor import AccessAuditor
from service.api.access.access_policy import AccessInForce
from service.api.access.audit_log import AccessRecord, Recorder, UnauditedError
from service.api.access.budget import BudgetBounds, RejectionCounts, RequestBudget
from service.api.access.gate import Gate
from service.api.access.served_counts import ServedCounter, ServedLog
from service.api.access.unaudited_counts import AccessCounter
from service.errors import NoDataError
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings

_SIGNED_IN = 60  # in ten seconds, from one address: an office behind one proxy


class Guard:
    """Guard of one process that answers requests.

    Attributes:
        policy: in force, for all else that this process does.
        count: to be called once a second, with the catalog.
        judge: likewise, by the leader of several services.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        policy: PolicyInForce | None = None,
    ) -> None:
        self._clock = clock
        self.policy = policy or PolicyInForce(settings.policy)
        self._force = AccessInForce(self.policy, clock)
        self._recorder = Recorder(settings.catalog, self._force)
        self._served = ServedLog()
        self._grouped = RejectionCounts()
        self._budget = RequestBudget(time.monotonic)
        self._signing_in = RequestBudget(time.monotonic, BudgetBounds(answers=_SIGNED_IN))
        self.count = AccessCounter(self._recorder, self._served, self._grouped, clock)
        self.judge = AccessAuditor(clock, keep_days=settings.access_audit_days)

    def may_sign_in(self, address: str) -> bool:
        """Note that a browser of this address signs in; whether it may try again so soon."""
        return self._signing_in.spend(address) != "too_many"

    async def record_rejection(
        self, action: str, who: str, reason: str, request_id: str, address: str
    ) -> None:
        """Audit one who was rejected by another than the gate; returns once the row is durable.

        Beyond the budget of `address` it is counted, and has no row of its own.

        Raises:
            NoDataError: it is not.
        """
        if self._budget.spend(address) != "own_row":
            self._grouped.add(reason)
            return
        access = AccessRecord(
            at=to_micros(self._clock()),
            request_id=request_id,
            who=who,
            fingerprint="",
            action=action,
            subject="",
            namespaces="[]",
            decision="deny",
            reason=reason,
            status=401,
            version="",
        )
        try:
            await self._recorder.record(access)
        except UnauditedError as error:
            message = f"requests are not processed while they cannot be audited: {error}"
            raise NoDataError(message) from error

    def middleware(self) -> list[DefineMiddleware]:
        """Return the middleware, outermost first: it counts what the inner one lets out."""
        return [
            DefineMiddleware(ServedCounter, log=self._served, clock=self._clock),
            DefineMiddleware(
                Gate,
                force=self._force,
                recorder=self._recorder,
                budget=self._budget,
                grouped=self._grouped,
            ),
        ]
