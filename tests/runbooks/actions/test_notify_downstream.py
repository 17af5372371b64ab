import msgspec
import pytest
from sqlalchemy import select

from alerts.notify.message import from_json
from alerts.notify.recipients import notice_channel
from lineage.catalog import tables
from lineage.policy.model import Owner, Policy
from runbooks.actions.action import Affected, Downstream
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from tests.service import shop

POLICY = Policy(
    owners=(
        Owner(name="shop", slack="#shop"),
        Owner(name="bi", slack="#bi"),
        Owner(name="mute"),
        Owner(name="elsewhere", slack="#elsewhere"),
    )
)


def _affected(name: str, owner: str | None, tier: str = "optional") -> Affected:
    return Affected("s3://shop", name, tier, owner, "good")


@pytest.fixture
def filled(world):
    """Create thirteen datasets of three owners, derived from `core/orders`."""
    affected = [_affected(f"mart/{n:02}", "shop") for n in range(11)]
    affected += [_affected("mart/revenue", "bi", "critical"), _affected("tmp/x", None)]
    affected += [_affected("log/y", "mute")]
    found = Downstream("s3://shop", "core/orders", "bad", tuple(affected))
    world.graph.of = {"core/orders": found}
    world.policy = POLICY
    return world


def _notices(world):
    with world.engine.connect() as connection:
        t = tables.notification.c
        rows = connection.execute(select(t.channel, t.kind, t.message).order_by(t.channel)).all()
    return {row.channel: from_json(row.message) for row in rows}


def test_a_plan_lists_recipients_and_notifies_nobody(filled):
    """List owners with a channel, with the number of datasets; name owners without one."""
    before = filled.everything()
    plan = filled.plan("notify-downstream", dataset="core/orders", note="late")

    assert plan.does == (
        "notify bi in slack:#bi about 1 datasets",
        "notify shop in slack:#shop about 11 datasets",
    )
    assert plan.cautions == (
        "mute has no channel for notices in the policy: not notified",
        "datasets without an owner: 1; nobody is notified of them",
    )
    assert plan.figures == {"notices": 2, "datasets": 14}
    assert filled.everything() == before


def test_each_owner_gets_one_notice_with_their_own_datasets(filled):
    """List ten of them and their number, the note and its author. Page nobody."""
    filled.act("notify-downstream", dataset="core/orders", note="again at 09:00")

    notices = _notices(filled)
    assert sorted(notices) == ["slack:#bi", "slack:#shop"]
    shop_notice = notices["slack:#shop"]
    assert (shop_notice.kind, shop_notice.severity, shop_notice.owner) == (
        "notice",
        "ticket",
        "shop",
    )
    assert (len(shop_notice.impacted), shop_notice.impacted_count) == (10, 11)
    assert shop_notice.note == "again at 09:00 (ann)"
    assert not shop_notice.is_answerable  # `lineward ack` does not know its id
    assert [one.name for one in notices["slack:#bi"].impacted] == ["mart/revenue"]
    assert notices["slack:#bi"].tiers == (("critical", 1),)


def test_two_owners_in_one_channel_are_both_notified(filled):
    """Send each their own list."""
    owners = (Owner(name="shop", slack="#data"), Owner(name="bi", slack="#data"))
    filled.policy = msgspec.structs.replace(POLICY, owners=owners)
    filled.act("notify-downstream", dataset="core/orders", note="late")

    with filled.engine.connect() as connection:
        rows = connection.execute(select(tables.notification.c.message)).scalars().all()
    assert sorted(from_json(row).owner for row in rows) == ["bi", "shop"]


def test_an_owner_without_slack_is_notified_where_automatic_notices_go(filled):
    """Use the first channel that pages nobody.

    Mutant: with Slack alone, an owner with a URL of Apprise got only automatic notices.
    """
    mail = "mailto://ann@shop.example"
    owners = (
        Owner(name="shop", pagerduty_key_file="keys/shop"),
        Owner(name="bi", notify=("pagerduty:keys/bi", mail)),
    )
    filled.policy = Policy(owners=owners)
    plan = filled.plan("notify-downstream", dataset="core/orders", note="late")
    filled.act("notify-downstream", dataset="core/orders", note="late")

    channel = notice_channel(filled.policy, "bi")
    assert plan.does == (f"notify bi in {channel} about 1 datasets",)
    assert "shop has no channel for notices in the policy: not notified" in plan.cautions
    assert {name: one.owner for name, one in _notices(filled).items()} == {channel: "bi"}


def test_a_notice_names_the_roots_that_are_still_bad(filled):
    """Use the incident's reason, time and correlation id."""
    filled.insert("dataset", *map(shop.dataset_row, (shop.CORE, shop.RAW)))
    filled.insert("incident", incident_row())
    filled.insert("incident_member", _member(shop.CORE), _member(shop.RAW, left_at=7))
    filled.act("notify-downstream", incident="inc-1", note="we are on it")

    one = _notices(filled)["slack:#bi"]
    assert (one.what, one.since, one.correlation_id) == ("orders failed", 5, "corr")
    assert one.root.kind == "job"
    assert one.incident_id.startswith("notice/inc-1/")


def test_a_notice_without_recipients_or_roots_is_rejected(filled):
    """Store no row in either case."""
    filled.policy = Policy()
    with pytest.raises(RejectedActionError, match="nobody can be notified; owners: bi, mute, shop"):
        filled.plan("notify-downstream", dataset="core/orders", note="x")
    for wrong in ({}, {"dataset": "a", "incident": "b"}, {"incident": "none"}):
        with pytest.raises(InvalidActionError):
            filled.plan("notify-downstream", note="x", **wrong)
    with pytest.raises(InvalidActionError, match="note"):
        filled.plan("notify-downstream", dataset="core/orders", note="")
    assert _notices(filled) == {}


def incident_row():
    texts = [
        "what",
        "because",
        "root_entity",
        "root_kind",
        "root_namespace",
        "root_name",
        "severity",
        "evidence",
    ]
    row = dict.fromkeys(texts, "x") | {"what": "orders failed", "root_entity": "job"}
    flags = dict.fromkeys(("is_remembered", "is_bridged", "is_flapping", "is_frozen"), False)
    return {
        **row,
        **flags,
        "incident_id": "inc-1",
        "state": "open",
        "revision": 3,
        "life": "{}",
        "root_key": 1,
        "score": 1.0,
        "correlation_id": "corr",
        "onset": 5,
        "seen_at": 6,
    }


def _member(name: str, left_at: int | None = None):
    return {
        "incident_id": "inc-1",
        "dataset_key": shop.dataset_key(name),
        "kind": "failed",
        "onset": 5,
        "steps": 0,
        "relays": "[]",
        "job_key": 0,
        "joined_at": 5,
        "left_at": left_at,
    }
