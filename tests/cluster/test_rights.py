"""Ask a real API server what the ServiceAccounts of a release may do, and act with their rights."""

from types import SimpleNamespace

import pytest

from runbooks.actions.errors import FailedActionError
from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.kubernetes_settings import KubernetesSettings
from runbooks.actions.resubmit import Resubmit, perform, plan
from runbooks.actions.workloads import find_workloads, restart_workload
from tests.cluster.jobs import PATH, create_job, list_jobs
from tests.helm.charts import RELEASE
from tests.suite.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_NOW = 1_764_000_000_000_000
_ACCOUNT = "lineward-pipeline"


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        *((verb, "pods") for verb in ("create", "get", "list", "watch", "delete")),
        ("deletecollection", "pods"),
        ("create", "configmaps"),
        ("create", "services"),
    ],
)
def test_the_driver_s_account_may_do_what_spark_does(api, acting_release, verb, resource):
    """Ask RBAC itself, in the namespace of the release."""
    where = acting_release.namespace

    assert api.may(f"{where}:{_ACCOUNT}", verb, resource, where)


@pytest.mark.parametrize(
    ("account", "verb", "resource"),
    [
        (_ACCOUNT, "get", "secrets"),
        (_ACCOUNT, "create", "pods/exec"),
        (_ACCOUNT, "patch", "statefulsets.apps"),
        ("lineward-executor", "list", "pods"),
        ("lineward-executor", "get", "configmaps"),
        ("lineward-collector", "list", "pods"),
        ("lineward-collector", "get", "secrets"),
        ("lineward", "list", "pods"),  # it watches the namespaces of jobs
        ("lineward", "get", "secrets"),
    ],
)
def test_no_account_may_do_more_than_it_needs(api, acting_release, account, verb, resource):
    """Ask RBAC itself, in the namespace of the release."""
    where = acting_release.namespace

    assert not api.may(f"{where}:{account}", verb, resource, where)


@pytest.mark.parametrize("namespace", ["jobs", "etl", "grafana"])
@pytest.mark.parametrize("resource", ["pods", "sparkapplications.sparkoperator.k8s.io"])
def test_the_watch_may_read_and_resubmit_where_it_is_configured(
    api, acting_release, namespace, resource
):
    """Ask RBAC itself, in the namespaces that are watched and in another one."""
    user = f"{acting_release.namespace}:lineward"
    verbs = ("get", "list", "watch", "create", "delete", "patch")
    acts = {"create"} if resource != "pods" else set()  # `act resubmit`

    allowed = {verb for verb in verbs if api.may(user, verb, resource, namespace)}

    assert allowed == (set() if namespace == "grafana" else {"get", "list", "watch"} | acts)


@pytest.fixture
def kubernetes(api, acting_release, tmp_path) -> Kubernetes:
    """Return the API server as the service's actions see it."""
    (tmp_path / "token").write_text(api.issue_token(acting_release.namespace, "lineward"))
    return Kubernetes(
        KubernetesSettings(
            url=api.url,
            token_file=tmp_path / "token",
            ca_file=api.ca,
            instance=RELEASE,
            namespace=acting_release.namespace,
        )
    )


@pytest.mark.parametrize(
    "role", ["collector", "service", "pipeline", "kafka", "marquez", "kubernetes"]
)
def test_restart_role_may_restart_each_workload(api, acting_release, kubernetes, role):
    """Restart by the account's own rights: the pods are others, and the application has changed."""
    before = {one["metadata"]["uid"] for one in api.pods(acting_release.namespace, component=role)}
    (workload,) = find_workloads(kubernetes, role)

    restart_workload(kubernetes, workload, _NOW, is_dry=False)

    if role == "pipeline":  # the operator, which does not run here, submits it again
        assert api.get(workload.path)["metadata"]["generation"] == 2
        return
    until(
        lambda: (
            not before
            & {one["metadata"]["uid"] for one in api.pods(acting_release.namespace, component=role)}
        )
    )


def test_restart_role_may_change_no_other_workload(api, acting_release, kubernetes):
    """Try the same on a Deployment of others in the namespace of the release."""
    labels = {"app": "shop"}
    container = {"name": "shop", "image": "shop:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    shop = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop", "namespace": acting_release.namespace},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }
    api.create(shop)

    with pytest.raises(FailedActionError, match="lacks a verb"):
        kubernetes.patch(api.path_of(shop), {"spec": {"replicas": 1}}, is_dry=False)


def test_resubmit_copies_an_application_by_the_account_s_rights(api, kubernetes):
    """Plan and perform it in a watched namespace; the real definition accepts the copy."""
    create_job(api, "orders", "FAILED")
    asked = Resubmit(namespace="jobs", name="orders")
    means = SimpleNamespace(kubernetes=kubernetes, now=_NOW)

    planned = plan(asked, means)
    did = perform(asked, means)

    assert planned.figures == did.figures == {"applications": 1}
    copy = "orders-rerun-20251124160000"
    assert {"orders", copy} <= list_jobs(api)
    for name in ("orders", copy):
        api.ask("DELETE", f"{PATH}/{name}")
