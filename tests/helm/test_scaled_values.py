"""Check that a wrong or missing value of scaled mode is an error that names its key."""

import pytest

from tests.helm.charts import CHART, run_helm, values_path

pytestmark = pytest.mark.xdist_group("helm")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("catalog.urlSecret.name=", "catalog.urlSecret.name: mode scaled needs a PostgreSQL"),
        ("log.kafka.bootstrap=", "log.kafka.bootstrap: mode scaled needs a Kafka"),
        ("lake.url=", "lake.url: mode scaled needs a bucket"),
        ("lake.url=/srv/lake", "'/lake/url'"),
        ("lake.url=s3://key:secret@bucket", "'/lake/url'"),
        ("lake.accessKeySecret.name=", "lake.secretKeySecret.name: set it together with"),
        ("log.kafka.bootstrap=kafka", "'/log/kafka/bootstrap'"),
        ("fullnameOverride=9lives", "'/fullnameOverride'"),
        (f"fullnameOverride={'x' * 39}", "fullnameOverride: the full name has more than 38"),
        ("pipeline.runAs=job", "'/pipeline/runAs'"),
        ("pipeline.driver.memory=2Gi", "'/pipeline/driver/memory'"),
        ("service.preStopSeconds=30", "service.pod.terminationGracePeriodSeconds: the service"),
        ("pipeline.executor.pod.livenessProbe.periodSeconds=1", "'livenessProbe' not allowed"),
        ("kafkaSource.bootstrap=", "kafkaSource.bootstrap: give HOST:PORT"),
        ("marquez.url=", "marquez.url: give the address"),
        (
            "access.insecure=true,access.collectorToken.name=,access.senderSecret.name=",
            "access.senderSecret.name: collectors know",
        ),
        ("collector.autoscaling.minReplicas=9", "collector.autoscaling.maxReplicas: less than"),
        ("collector.drainSeconds=60", "collector.pod.terminationGracePeriodSeconds: the"),
        ("networkPolicy.egress.kafka=null", "networkPolicy.egress.kafka: name the brokers"),
        (
            "networkPolicy.egress.postgresql=null",
            "networkPolicy.egress.postgresql: name the database",
        ),
        ("networkPolicy.egress.s3=null", "networkPolicy.egress.s3: name the S3 server"),
        (
            "networkPolicy.egress.kafkaSource=null",
            "networkPolicy.egress.kafkaSource: name the brokers",
        ),
        ("networkPolicy.egress.marquez=null", "networkPolicy.egress.marquez: name Marquez"),
        ("settings.LINEWARD_LOG=spool", "settings.LINEWARD_LOG: set log.kafka instead"),
        ("settings.LINEWARD_LAKE_URL=s3://b", "settings.LINEWARD_LAKE_URL: set lake.url instead"),
        (
            "settings.LINEWARD_POLICY=x",
            "settings.LINEWARD_POLICY: set policy.inline or policy.existingConfigMap instead",
        ),
        (
            "settings.LINEWARD_COLLECTOR_DRAIN_SECONDS=1",
            "settings.LINEWARD_COLLECTOR_DRAIN_SECONDS: set collector.drainSeconds instead",
        ),
        ("access.collectorToken.name=", "access.collectorToken.name: name the Secret"),
        ("mode=embedded", "access.senderSecret: only mode scaled reads it; in mode embedded use"),
        ("embedded.host=::", "embedded.host: only mode embedded reads it"),
        ("podDisruptionBudget.enabled=true", "podDisruptionBudget.enabled: only mode embedded"),
    ],
)
def test_helm_names_the_wrong_value(values, message):
    """Change one value of the valid file: Helm fails and says which value to change."""
    file = str(values_path("scaled"))
    answer = run_helm("template", "lineward", str(CHART), "-f", file, "--set", values)

    assert answer.returncode == 1
    assert message in answer.stderr


@pytest.mark.parametrize("name", ["embedded", "scaled"])
def test_a_release_whose_name_begins_with_a_digit_is_rejected(name):
    """Render with such a release: names of Services begin with a letter."""
    file = str(values_path(name))
    answer = run_helm("template", "9lives", str(CHART), "-f", file)

    assert "fullnameOverride: the name of the release begins with a digit" in answer.stderr


_LIMITS = "pipeline.pod.resources.limits"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("pipeline.driver.memory=3100m", f"{_LIMITS}.memory: 5Gi is less than"),
        ("pipeline.driver.memoryOverhead=4g", f"{_LIMITS}.memory: 5Gi is less than"),
        (f"{_LIMITS}.memory=5G", f"{_LIMITS}.memory: 5G is less than"),
        (f"{_LIMITS}.memory=5000000000", f"{_LIMITS}.memory: 5000000000 is less than"),
        (f"{_LIMITS}.memory=five", f"{_LIMITS}.memory: expected a quantity like 5Gi, got five"),
        (f"{_LIMITS}.cpu=3500m", f"{_LIMITS}.cpu: 3500m is less than pipeline.driver.cores (4)"),
        (f"{_LIMITS}.memory=6000Mi", ""),
        (f"{_LIMITS}.memory=5368709120", ""),
        (f"{_LIMITS}.memory=null", ""),
        (f"{_LIMITS}.cpu=4", ""),
    ],
)
def test_limits_of_the_pipeline_hold_its_spark(values, message):
    """Change limits or sizes of the Deployment: memory beside the JVM counts too."""
    words = ("-f", str(values_path("scaled-deployment")), "--set", values)
    answer = run_helm("template", "lineward", str(CHART), *words)

    assert answer.returncode == (1 if message else 0), answer.stderr
    assert message in answer.stderr


_COMPONENTS = (
    *("collector", "service", "pipeline", "pipeline.executor"),
    *("kafkaSource", "marquez", "kubernetesSource"),
)


@pytest.mark.parametrize("component", _COMPONENTS)
def test_a_variable_that_the_chart_sets_is_no_extra_one(component):
    """Set it in `extraEnv`: the API server would reject the pod for two variables of a name."""
    path = f"{component}.pod.extraEnv"

    assert f"{path}: the chart sets HOME itself: set nothing" in _reject(f"{path}[0].name=HOME")


@pytest.mark.parametrize(
    ("variable", "instead"),
    [
        ("LINEWARD_LOG", "log.kafka"),
        ("LINEWARD_CATALOG_URL", "catalog.urlSecret"),
        ("LINEWARD_ALERTS_MODE", "notifications.mode"),
        ("LINEWARD_PIPELINE_MAX_ROWS", "settings.LINEWARD_PIPELINE_MAX_ROWS"),
    ],
)
def test_the_message_names_the_value_of_the_variable(variable, instead):
    """Check the value to set instead: one of the chart's, or `settings`."""
    message = f"the chart sets {variable} itself: set {instead} instead"

    assert message in _reject(f"service.pod.extraEnv[0].name={variable}")


def test_a_variable_is_given_once():
    """Give one twice in `extraEnv`."""
    twice = "service.pod.extraEnv[0].name=A,service.pod.extraEnv[1].name=A"

    assert "service.pod.extraEnv: A is there twice" in _reject(twice)


def _reject(values: str) -> str:
    """Return the error of the valid file with these values."""
    words = ("-f", str(values_path("scaled")), "--set", values)
    answer = run_helm("template", "lineward", str(CHART), *words)
    assert answer.returncode == 1
    return answer.stderr
