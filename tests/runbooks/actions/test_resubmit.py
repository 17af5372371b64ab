import json
from pathlib import Path

import pytest

from lineage.process.environment import InvalidSettingError
from runbooks.actions import kubernetes_settings
from runbooks.actions.errors import FailedActionError, InvalidActionError, RejectedActionError
from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.kubernetes_settings import KubernetesSettings
from runbooks.actions.resubmit import RERUN_OF
from tests.fakes.kubernetes import application

ORDERS = {"namespace": "jobs", "name": "orders"}
COPY = "orders-rerun-20261121120000"
ENDED_COPY = ("jobs", COPY)


def test_a_dry_run_validates_on_the_server_and_stores_nothing(world, cluster):
    """Name the copy; change nothing on either side."""
    cluster.store(application("orders"))
    before, stored = world.everything(), dict(cluster.stored)
    plan = world.plan("resubmit", **ORDERS)

    assert plan.does == (f"create the SparkApplication jobs/{COPY}, a copy of orders",)
    assert plan.cautions[1].startswith("driver.podName is left")
    assert "dryRun=All" in cluster.requests[-1].query
    assert (world.everything(), cluster.stored) == (before, stored)


def test_a_copy_has_the_spec_and_nothing_of_the_old_run(world, cluster):
    """Copy no status, ids, owner that would delete it, or name of an existing pod."""
    notes = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "shop"}
    labels = {"app": "orders", "sparkoperator.k8s.io/scheduled-app-name": "daily"}
    owner = [{"kind": "ScheduledSparkApplication", "name": "daily"}]
    more = {"annotations": notes, "labels": labels, "ownerReferences": owner}
    cluster.store(application("orders", "COMPLETED", **more))
    done = world.act("resubmit", **ORDERS).done

    made = cluster.stored[ENDED_COPY]
    mark = made["metadata"]["labels"].pop(RERUN_OF)
    assert made["metadata"] == {
        "name": COPY,
        "namespace": "jobs",
        "labels": {"app": "orders"},
        "annotations": {"team": "shop", RERUN_OF: "orders"},
    }
    spec = application("orders")["spec"] | {"driver": {"cores": 1}}
    assert (made["spec"], made.get("status"), len(mark)) == (spec, None, 16)
    assert COPY in done.did[0]


@pytest.mark.parametrize("state", [None, "SUBMITTED", "RUNNING", "PENDING_RERUN", "UNKNOWN"])
def test_an_application_that_runs_is_not_run_a_second_time(world, cluster, state):
    """Reject it: two runs would write the same; an unknown state is not an end."""
    cluster.store(application("orders", state))

    with pytest.raises(RejectedActionError, match=r"two runs would write the same"):
        world.act("resubmit", **ORDERS)
    assert len(cluster.stored) == 1


def test_two_requests_at_once_start_one_run(world, cluster):
    """Find the copy of the first by its label; it has not ended."""
    cluster.store(application("orders"))
    world.act("resubmit", **ORDERS)
    world.now += 60_000_000

    with pytest.raises(RejectedActionError, match=f"{COPY} is NEW"):
        world.act("resubmit", **ORDERS)
    cluster.stored[ENDED_COPY]["status"] = {"applicationState": {"state": "FAILED"}}
    world.act("resubmit", **ORDERS)
    assert len(cluster.stored) == 3


def test_without_the_check_for_copies_there_would_be_two(world, cluster, monkeypatch):
    """Run the mutant."""
    cluster.store(application("orders"))
    monkeypatch.setattr(Kubernetes, "applications", lambda *_: [])
    world.act("resubmit", **ORDERS)
    world.now += 60_000_000
    world.act("resubmit", **ORDERS)

    assert len(cluster.stored) == 3


def test_each_rejection_by_the_server_is_explained(world, cluster, tmp_path):
    """Explain 401, 403, 404, 409 and 422, never with the token."""
    with pytest.raises(InvalidActionError, match=r'sparkapplications/orders: .*"orders" not found'):
        world.plan("resubmit", **ORDERS)
    cluster.store(application("orders"))
    cluster.verbs = {"get", "list"}
    with pytest.raises(FailedActionError, match=r"403: the Role .* lacks a verb .*create"):
        world.plan("resubmit", **ORDERS)
    cluster.verbs = {"get", "list", "create"}
    cluster.store(application("orders", "FAILED"))
    cluster.stored[ENDED_COPY] = application(COPY, "FAILED")
    with pytest.raises(RejectedActionError, match=r"there already: .*already exists"):
        world.plan("resubmit", **ORDERS)
    del cluster.stored[ENDED_COPY], cluster.stored["jobs", "orders"]["spec"]["type"]
    with pytest.raises(FailedActionError, match=r"422: the object .*spec.type: Required"):
        world.plan("resubmit", **ORDERS)
    (tmp_path / "token").write_text("another-token")
    with pytest.raises(FailedActionError, match=r"401: the API server does not accept the token"):
        world.plan("resubmit", **ORDERS)
    assert all(
        "token-of" not in str(row) and "another-token" not in str(row) for row in world.audited()
    )


def test_a_renewed_token_is_used(world, cluster, tmp_path):
    """Read it at each request: a pod's token changes every hour."""
    cluster.store(application("orders"))
    cluster.token = "renewed"  # noqa: S105 - of a fake
    (tmp_path / "token").write_text("renewed")

    assert world.plan("resubmit", **ORDERS).figures == {"applications": 1}


def test_a_missing_or_foreign_server_is_reported(world, cluster, tmp_path):
    """Report a closed port, and a server with an unknown authority."""
    world.kubernetes = Kubernetes(
        KubernetesSettings(url=cluster.url, token_file=tmp_path / "token", timeout_seconds=5)
    )
    with pytest.raises(FailedActionError, match=r"does not answer at https://127.0.0.1"):
        world.plan("resubmit", **ORDERS)
    assert cluster.requests == []
    cluster.stop()
    with pytest.raises(FailedActionError, match=r"does not answer"):
        world.plan("resubmit", **ORDERS)


@pytest.mark.parametrize("name", ["../secrets", "orders?x=1", "Orders", "a" * 254, "-a", ""])
def test_no_name_leads_to_another_path(world, cluster, name):
    """Accept only names that Kubernetes itself allows."""
    with pytest.raises(InvalidActionError):
        world.plan("resubmit", namespace="jobs", name=name)
    assert cluster.requests == []


def test_a_long_name_is_cut_to_what_the_operator_can_use(world, cluster):
    """Cut it to 63 characters: services and labels derive from it."""
    long = "a" * 40 + "-" + "b" * 22
    cluster.store(application(long))
    world.act("resubmit", namespace="jobs", name=long)

    (made,) = [name for _, name in cluster.stored if name != long]
    assert len(made) <= 63
    assert made.endswith("-rerun-20261121120000")
    assert json.loads(cluster.requests[-1].body)["metadata"]["annotations"][RERUN_OF] == long


def test_settings_are_read_and_a_token_is_never_sent_in_the_clear(monkeypatch):
    """Require https, or a proxy on this machine."""
    monkeypatch.setenv("LINEWARD_KUBERNETES_URL", "https://kubernetes.default.svc")
    monkeypatch.setenv("LINEWARD_KUBERNETES_TOKEN_FILE", "/run/token")
    assert kubernetes_settings.read_kubernetes_settings().token_file == Path("/run/token")
    for wrong in ("http://10.0.0.1", "kubernetes", "https://"):
        monkeypatch.setenv("LINEWARD_KUBERNETES_URL", wrong)
        with pytest.raises(InvalidSettingError, match=r"LINEWARD_KUBERNETES_URL"):
            kubernetes_settings.read_kubernetes_settings()
