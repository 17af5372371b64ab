"""Notifier in its own process, which the kernel kills at a named place in the code.

A server forks it: the server has loaded all modules before, and has no threads that a fork loses.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from lineage.catalog.engine import open_catalog
from lineage.process.clock import from_micros
from tests.service.one_page.shop import ALERTMANAGER, JSON, NotifierInputs, turn

_DEADLINE_SECONDS: Final = 60
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.service.one_page.killed_notifier"])

BEFORE, AFTER = "before", "after"
# Where it dies: in words, in which module, at what, and whether that is done.
FAILPOINTS: Final = {
    "before the detector's transaction": (
        "alerts.detection.incident_detector",
        "IncidentDetector._write",
        BEFORE,
    ),
    "in the detector's transaction, before anything": (
        "alerts.detection.incident_detector",
        "save_step",
        BEFORE,
    ),
    "between the incident and its message": (
        "alerts.detection.incident_detector",
        "route_incident_step",
        BEFORE,
    ),
    "in the detector's transaction, before the commit": (
        "alerts.detection.incident_detector",
        "route_incident_step",
        AFTER,
    ),
    "between detection and diagnosis": (
        "alerts.detection.incident_detector",
        "IncidentDetector.__call__",
        AFTER,
    ),
    "in the diagnosis": ("service.incidents.diagnosis.diagnose", "_compared", BEFORE),
    "between diagnosis and notifications": (
        "alerts.notify.notification_worker",
        "NotificationWorker.__call__",
        BEFORE,
    ),
    "between notifications and sender": (
        "service.incidents.incident_worker",
        "Sending.__call__",
        BEFORE,
    ),
    "before the claim": ("alerts.notify.sender", "Sender._claim", BEFORE),
    "after the claim": ("alerts.notify.sender", "Sender._claim", AFTER),
    "before sending": ("alerts.notify.sender", "Sender._send", BEFORE),
    "between send and mark": ("alerts.notify.sender", "Sender._send", AFTER),
    "in the mark, before the commit": ("alerts.notify.attempts", "AttemptRecorder.record", AFTER),
    "after the mark": ("alerts.notify.sender", "Sender._record", AFTER),
    "after Slack's post": ("alerts.notify.channels.slack.delivery", "_Delivery._post", AFTER),
    "between Slack's edit and reply": (
        "alerts.notify.channels.slack.delivery",
        "_Delivery._reply",
        BEFORE,
    ),
    "after PagerDuty's answer": (
        "alerts.notify.channels.pagerduty.channel",
        "PagerDuty.send",
        AFTER,
    ),
}
# The notification that time starts: two minutes after the opening, without Alertmanager.
BY_TIME: Final = {
    "in the router's transaction, before anything": ("alerts.notify.router", "route_due", BEFORE),
    "in the router's transaction, before the commit": ("alerts.notify.router", "route_due", AFTER),
}
# As Alertmanager's call is taken.
BY_CALL: Final = {
    "before it is written down": ("service.api.routes.webhooks", "receive_webhook", BEFORE),
    "before the commit": ("service.api.routes.webhooks", "receive_webhook", AFTER),
    "before the answer": ("service.api.routes.webhooks", "_taken", AFTER),
}
# Mutants: the transaction taken away, so that what was written before the kill stays.
HALVES: Final = {
    "the incident, and not its message": (
        "alerts.detection.incident_detector",
        "route_incident_step",
        BEFORE,
    ),
}


def run_until_killed(
    given: NotifierInputs, at: int, failpoint: str, call: bytes | None = None
) -> bool:
    """Run one turn at this time (µs), or one call, in another process; return whether it died.

    Raises:
        AssertionError: it ended in another way.
    """
    process = _context.Process(target=_live, args=(given, at, failpoint, call), daemon=True)
    process.start()
    process.join(_DEADLINE_SECONDS)
    assert process.exitcode in {0, -signal.SIGKILL}, process.exitcode
    return process.exitcode != 0


def _live(given: NotifierInputs, at: int, failpoint: str, call: bytes | None) -> None:
    if failpoint in HALVES:
        _arm(*HALVES[failpoint], before_it=_commit)
    else:
        _arm(*(FAILPOINTS | BY_TIME | BY_CALL)[failpoint])
    if call is None:
        turn(given.tasks(lambda: from_micros(at)), open_catalog(given.settings.catalog))
    else:
        given.client(lambda: from_micros(at)).post(ALERTMANAGER, content=call, headers=JSON)


def _arm(
    module: str, name: str, when: str, before_it: Callable[..., None] = lambda *_, **__: None
) -> None:
    owner: Any = import_module(module)
    *path, last = name.split(".")
    for each in path:
        owner = getattr(owner, each)
    setattr(owner, last, _dying(getattr(owner, last), when, before_it))


def _dying(done: Callable[..., Any], when: str, before_it: Callable[..., None]) -> Any:  # noqa: ANN401
    def die(*given: Any, **named: Any) -> None:  # noqa: ANN401
        before_it(*given, **named)
        if when == AFTER:
            done(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


def _commit(connection: Any, *_: object) -> None:  # noqa: ANN401 - a mutant of its transaction
    connection.commit()
