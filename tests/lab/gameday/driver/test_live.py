"""Live game day that cannot be played: it reports the reason, and expects nothing afterwards."""

import json

import pytest

from lab.gameday.driver import live
from lab.gameday.driver.service_client import ServiceClient
from lab.gameday.fake_receivers import Receivers
from lab.gameday.truth_shapes import NamePattern
from service.errors import NotRunningError, RejectedInputError
from service.ingest.event_uploader import RejectedUpload
from service.queries.shapes import DatasetRow

WANTED = live.Wanted(1, 1, ("killed_job",))


class Post:
    """Stand-in for a collector: stores what it gets."""

    def __init__(self, *rejected: RejectedUpload) -> None:
        self.events: list[dict[str, object]] = []
        self._rejected = list(rejected)

    def post(self, bodies: list[bytes]) -> list[RejectedUpload]:
        """Post as `service.ingest.event_uploader.EventUploader`."""
        self.events += map(json.loads, bodies)
        return self._rejected


class Known:
    """Stand-in for a service, with the same answer for each dataset."""

    def __init__(self, **fields: object) -> None:
        self._fields = fields

    def datasets(self, _contains: str) -> dict[NamePattern, DatasetRow]:
        """Answer as `lab.gameday.driver.service_client.ServiceClient`."""
        return {} if not self._fields else _Any(self._fields)


class _Any(dict):
    def __init__(self, fields: dict[str, object]) -> None:
        self._fields = fields

    def get(self, name: NamePattern, _default: object = None) -> DatasetRow:
        """Return the same for all."""
        fields = {"tier": "optional", "state": "good", "sli": None, "reason": None, "since": None}
        given = fields | {"owner": "gameday-orders"} | self._fields
        return DatasetRow(dataset_namespace=name.namespace, dataset=name.name, **given)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    for name in ("_BEGUN_PERIODS", "_READY_PERIODS", "_LOOK_SECONDS", "_DROPPED_SECONDS"):
        monkeypatch.setattr(live, name, 0)


@pytest.mark.parametrize(
    ("known", "fields"),
    [
        (
            Known(),
            r"is not known to the service\. Check that the policy of `lineward gameday",
        ),
        (Known(owner=None), "None, optional: expected gameday-orders, critical"),
        (Known(tier="critical", state="bad", reason="silent"), "is bad: silent"),
    ],
)
def test_a_game_day_does_not_begin_on_an_unready_service(monkeypatch, known, fields):
    """Stop where the policy is not in force, or something is bad at the start."""
    stopped = []
    monkeypatch.setattr(live.RunningChains, "stop", lambda _self, at: stopped.append(at))
    with pytest.raises(RejectedInputError, match=fields):
        live.play(WANTED, Post(), known, Receivers(), lambda _: None)

    assert len(stopped) == 1


def test_a_collector_that_rejects_ends_it(monkeypatch):
    """End with its reason."""
    monkeypatch.setattr(live, "_BEGUN_PERIODS", 2)
    post = Post(RejectedUpload(0, "no namespace of yours"))
    with pytest.raises(RejectedInputError, match="--against: an event was rejected: no namespace"):
        live.play(WANTED, post, Known(), Receivers(), lambda _: None)


def test_a_service_that_does_not_answer_is_named():
    """Stop before anything is posted."""
    post = Post()
    with pytest.raises(NotRunningError, match=r"^--service http"):
        live.play(WANTED, post, ServiceClient("http://127.0.0.1:1"), Receivers(), lambda _: None)

    assert post.events == []
