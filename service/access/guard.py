"""All that guards one API: the policy in force, the audit log, the count of what was served."""

from litestar.middleware import DefineMiddleware

from lineage.clock import Clock, system_clock, to_micros
from service.access.audit import Access, Recorder
from service.access.force import AccessInForce
from service.access.gate import Gate
from service.access.judging import AccessJudge
from service.access.served import ServedCounter, ServedLog
from service.settings import Settings


class Guard:
    """One for each process that answers.

    Attributes:
        judge: to be called once a second, with the catalog.
    """

    def __init__(self, settings: Settings, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._force = AccessInForce(settings.policy, clock)
        self._recorder = Recorder(settings.catalog, self._force)
        self._served = ServedLog()
        self.judge = AccessJudge(
            self._recorder, self._served, clock, keep_days=settings.access_audit_days
        )

    async def record_refusal(self, action: str, who: str, reason: str, request_id: str) -> None:
        """Audit one who was refused by another than the gate; returns once the row is durable.

        Raises:
            UnauditedError: it is not.
        """
        access = Access(
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
        await self._recorder.record(access)

    def middleware(self) -> list[DefineMiddleware]:
        """The outer one first: it counts what the inner one lets out."""
        return [
            DefineMiddleware(ServedCounter, log=self._served, clock=self._clock),
            DefineMiddleware(Gate, force=self._force, recorder=self._recorder),
        ]
