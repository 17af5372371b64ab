"""Check two real services on PostgreSQL: each policy action once, though leaders are killed."""

import os
import sys
import threading
from collections import Counter

import pytest
from sqlalchemy import select

from lineage.catalog import tables
from runbooks.actions.resubmit import RERUN_OF
from tests.alerts.notify.conftest import authority
from tests.fakes.http_server import Request
from tests.fakes.kubernetes import FakeKubernetes, application
from tests.faults.chance import draw
from tests.faults.services import Services
from tests.suite.waiting import until

__all__ = ["authority"]

_SHORT = (
    "tests/service/actions/test_by_policy.py::"
    "test_an_action_is_never_done_twice_by_a_service_that_was_paused_before_it"
)
pytestmark = [pytest.mark.faults, pytest.mark.nightly(short=_SHORT)]

_ROUNDS = int(os.environ.get("LINEWARD_PART_KILLS", "1"))
_DATASETS = ("raw", "clicks")
# A run here has the name of its SparkApplication.
_POLICY = """
actions:
  - kind: failed
    match: "*"
    do: resubmit
    dry_run: false
    most_per_hour: 60
    with: {namespace: jobs, name: "{run}"}
"""
# What the action asks of the API server, in this order; the audit log has it before the last one.
_STEPS = ("get", "list", "dry run", "create")


class HoldingKubernetes(FakeKubernetes):
    """API server that takes requests of one step, and leaves them without an answer for a while.

    Attributes:
        held: how many were left.
    """

    def __init__(self, authority) -> None:
        super().__init__(authority)
        self.held = 0
        self._step = ""
        self._released = threading.Event()

    def begin_hold(self, step) -> None:
        """Hold each request of this step from now on."""
        self._released.clear()
        self._step = step

    def release(self) -> None:
        """Answer all of them."""
        self._step = ""
        self._released.set()

    def hold(self, request: Request) -> None:
        """Wait if the request is of the step."""
        if _step_of(request) == self._step:
            self.held += 1
            self._released.wait(60)

    def copies(self) -> Counter[str]:
        """Return how often each application was copied."""
        notes = [one["metadata"].get("annotations", {}) for one in list(self.stored.values())]
        return Counter(found[RERUN_OF] for found in notes if RERUN_OF in found)


def _step_of(request: Request) -> str:
    if request.body:
        return "dry run" if "dryRun" in request.query else "create"
    return "list" if request.query else "get"


@pytest.fixture
def kubernetes(authority):
    """Start an API server with a failed application for each run that will be."""
    fake = HoldingKubernetes(authority)
    runs = _ROUNDS * len(_DATASETS) + 1
    fake.store(*(application(f"run-{number}") for number in range(1, runs + 1)))
    fake.listen()
    yield fake
    fake.release()
    fake.stop()


@pytest.fixture
def services(databases, kubernetes, tmp_path):
    """Start both on an empty catalog in PostgreSQL."""
    engine = databases.take()
    (tmp_path / "token").write_text(kubernetes.token)
    settings = {
        "LINEWARD_KUBERNETES_URL": kubernetes.url,
        "LINEWARD_KUBERNETES_TOKEN_FILE": str(tmp_path / "token"),
        "LINEWARD_KUBERNETES_CA_FILE": str(kubernetes.write_authority(tmp_path / "ca")),
        "LINEWARD_KUBERNETES_TIMEOUT_SECONDS": "60",
    }
    running = Services(engine, tmp_path, _POLICY, **settings)
    yield running
    running.stop()
    databases.give_back(engine)


def _audited(engine):
    """Return of each row of the audit log who acted, and how the answer begins."""
    row = tables.audit.c
    query = select(row.who, row.answer).where(row.via == "policy").order_by(row.id)
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    return [(who, answer and answer.partition(":")[0]) for who, answer in rows]


def _fail(services, kubernetes, names):
    """Have runs of these datasets fail; return what says whether each was run once more."""
    services.builder.add(*names, tier="critical")
    runs = services.fail(names)
    return lambda: kubernetes.copies().keys() >= set(runs)


def test_each_action_is_done_once_though_leaders_are_paused_and_killed(services, kubernetes):
    """Pause a leader in the middle of an action, and kill the next one in its own."""
    chance, engine = draw(), services.builder.engine
    until(services.leader, describe=services.logs)
    for number in range(_ROUNDS):
        step, is_next_held = chance.choice(_STEPS), chance.choice((True, False))
        sys.stdout.write(f"held: {step}, the next leader too: {is_next_held}\n")
        names = [f"{name}{number}" for name in chance.sample(_DATASETS, len(_DATASETS))]
        kubernetes.begin_hold(step)
        are_copied = _fail(services, kubernetes, names)
        has_worked = None if is_next_held else are_copied
        services.disturb(lambda: kubernetes.held, kubernetes.release, has_worked)
        services.wait(are_copied)
        services.heal(names)
    # A look that acts on this one has looked at all that are open once more.
    services.wait(_fail(services, kubernetes, ["last"]))
    services.wait(lambda: _audited(engine)[-1][1] == "done")

    runs, audited = _ROUNDS * len(_DATASETS) + 1, _audited(engine)
    sys.stdout.write(f"{runs} actions; rows of the audit log {Counter(a for _, a in audited)}\n")
    assert kubernetes.copies() == {f"run-{number}": 1 for number in range(1, runs + 1)}
    begun = Counter(who for who, answer in audited if answer is None)
    assert (len(begun), set(begun.values())) == (runs, {1})
    assert {answer for _, answer in audited} <= {None, "done"}
