import copy

import msgspec
import pytest

from runbooks.actions.errors import InvalidActionError, RejectedActionError
from runbooks.actions.kubernetes import Kubernetes


def test_only_a_role_that_runs_can_be_restarted(world):
    """Name the roles that run."""
    world.supervisor.running = {"collector": "running", "pipeline": "restarting"}

    plan = world.plan("restart-role", role="pipeline")
    with pytest.raises(InvalidActionError, match="there are collector, pipeline"):
        world.plan("restart-role", role="kafka")

    assert "which is restarting" in plan.does[0]
    assert "25 s" in plan.cautions[0]
    assert world.supervisor.asked == []


def test_without_a_supervisor_or_kubernetes_the_settings_are_named(world):
    """Name the settings of the release."""
    with pytest.raises(RejectedActionError, match="LINEWARD_KUBERNETES_URL, …_INSTANCE") as raised:
        world.act("restart-role", role="pipeline")

    label = "-l app.kubernetes.io/instance=RELEASE,app.kubernetes.io/component=pipeline"
    assert str(raised.value).endswith(
        f"run kubectl -n NAMESPACE rollout restart statefulset,deployment {label};"
        f" for a SparkApplication: kubectl -n NAMESPACE delete pod {label}"
    )


def test_the_shipper_is_restarted_with_the_collector_whose_pods_it_is_in(world):
    """Print a label that objects of the chart have."""
    with pytest.raises(RejectedActionError, match=r"component=collector$"):
        world.act("restart-role", role="shipper")


def workload(component: str, name: str, instance: str = "prod"):
    """Return an object with the labels of the chart."""
    labels = {"app.kubernetes.io/instance": instance, "app.kubernetes.io/component": component}
    metadata = {"name": name, "namespace": "data", "labels": labels}
    return {"metadata": metadata, "spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}


@pytest.fixture
def release(world, cluster):
    """Run the release `prod` in the namespace `data`, beside another release."""
    settings = msgspec.structs.replace(world.kubernetes.settings, instance="prod", namespace="data")
    world.kubernetes = Kubernetes(settings)
    cluster.workloads = {
        ("statefulsets", "data", "prod-lineward-collector"): workload(
            "collector", "prod-lineward-collector"
        ),
        ("deployments", "data", "prod-lineward"): workload("service", "prod-lineward"),
        ("deployments", "data", "test-lineward"): workload("service", "test-lineward", "test"),
    }
    return cluster


@pytest.mark.parametrize(
    ("role", "key", "named"),
    [
        (
            "collector",
            ("statefulsets", "data", "prod-lineward-collector"),
            "StatefulSet data/prod-lineward-collector",
        ),
        ("service", ("deployments", "data", "prod-lineward"), "Deployment data/prod-lineward"),
    ],
)
def test_a_role_of_a_release_is_found_by_its_labels(world, release, role, key, named):
    """Name the object in the plan, which changes nothing; then restart it, and no other.

    Mutant: the plan promises the second that a process of `lineward up` takes.
    """
    before = copy.deepcopy(release.workloads)
    plan = world.plan("restart-role", role=role)
    assert plan.does == (f"restart the {named}, which runs the role {role}",)
    assert "until its new pod is ready" in plan.cautions[0]
    assert "second" not in plan.cautions[0]
    assert release.workloads == before

    done = world.act("restart-role", role=role).done

    assert done.did == (f"restarted the {named}",)
    annotations = release.workloads[key]["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"a": "b", "kubectl.kubernetes.io/restartedAt": "2026-11-21T12:00:00Z"}
    assert [name for name, one in release.workloads.items() if one != before[name]] == [key]


def test_a_pipeline_that_is_a_spark_application_is_submitted_again(world, release):
    """Change its spec, which has the operator do so; do not copy it by `resubmit`."""
    pipeline = workload("pipeline", "prod-lineward-pipeline")
    release.stored["data", "prod-lineward-pipeline"] = pipeline
    del pipeline["spec"]["template"]

    plan = world.plan("restart-role", role="pipeline")
    world.act("restart-role", role="pipeline")

    assert plan.does[0].startswith("restart the SparkApplication data/prod-lineward-pipeline")
    assert pipeline["spec"]["driver"]["annotations"]
    with pytest.raises(RejectedActionError, match="`lineward act restart-role pipeline`"):
        world.plan("resubmit", namespace="data", name="prod-lineward-pipeline")


def test_a_role_that_the_release_does_not_run_is_named_with_those_it_does(world, release):
    """Name each object: the one pod of an embedded release has the component `embedded`."""
    with pytest.raises(InvalidActionError) as raised:
        world.plan("restart-role", role="kafka")

    assert str(raised.value) == (
        "release prod in namespace data runs no role 'kafka'; there are collector (StatefulSet"
        " data/prod-lineward-collector), service (Deployment data/prod-lineward)"
    )
    assert release.requests


def test_a_release_that_is_not_named_is_not_guessed(world, cluster):
    """Name the settings: another release may be beside it."""
    with pytest.raises(RejectedActionError, match="LINEWARD_KUBERNETES_INSTANCE and"):
        world.plan("restart-role", role="service")
    assert cluster.requests == []
