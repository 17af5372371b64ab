"""Submit the chart's SparkApplication to a real API server by Spark, as the operator does."""

import copy
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api, RejectedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.releases import Release
from tests.cluster.submission import DRIVER, command, environment, operator_settings, submit
from tests.helm.charts import Manifest, find
from tests.suite.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_MAIN = "local:///opt/lineward/spark/pipeline.py"
_ACCOUNT = "lineward-pipeline"


@pytest.fixture
def installed(release) -> Release:
    """Return a release in scaled mode."""
    made = release("scaled")
    made.install()
    return made


@pytest.fixture
def settings(control_plane: ControlPlane, installed: Release, tmp_path: Path) -> dict[str, str]:
    """Return the settings that the operator gives to spark-submit."""
    application = find("scaled", "SparkApplication")
    return operator_settings(application, control_plane, installed.namespace, tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("timeToLive", 5, 'unknown field "spec.timeToLive"'),
        ("type", "Phyton", 'Unsupported value: "Phyton"'),
        ("sparkConf", {"spark.ui.enabled": True}, "must be of type string"),
    ],
)
def test_the_definition_rejects_a_wrong_field(api, field, value, text):
    """Break the application in one place: the real definition rejects it."""
    broken = copy.deepcopy(find("scaled", "SparkApplication"))
    broken["spec"][field] = value

    with pytest.raises(RejectedError, match=text):
        api.create(broken, dryRun="All")


def test_spark_s_driver_is_admitted(api, installed, settings):
    """Submit as the operator does: the pod has its account, and Spark creates its objects."""
    until(lambda: len(api.pods(installed.namespace, component="collector")) == 2)  # the autoscaler
    before = api.names(installed.namespace)

    answer = submit(settings, _MAIN)

    assert answer.returncode == 0, answer.stderr
    pod = api.get(f"/api/v1/namespaces/{installed.namespace}/pods/{DRIVER}")
    assert pod["spec"]["serviceAccountName"] == _ACCOUNT
    made = {one.partition("/")[0] for one in api.names(installed.namespace) - before}
    assert made == {"Pod", "Service", "ConfigMap", "Endpoints", "EndpointSlice"}


def test_without_the_template_the_driver_is_rejected(api, installed, settings):
    """Leave the template out: admission looks at the driver, and rejects it."""
    del settings["spark.kubernetes.driver.podTemplateFile"]

    answer = submit(settings, _MAIN)

    assert answer.returncode != 0
    assert "violates PodSecurity" in answer.stderr
    assert api.pods(installed.namespace, component="pipeline") == []


@pytest.fixture
def driver(
    api: Api,
    control_plane: ControlPlane,
    installed: Release,
    settings: dict[str, str],
    tmp_path: Path,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a driver beside its pod, with the token of the pod's account."""
    assert submit(settings, _MAIN).returncode == 0
    token = tmp_path / "token"
    token.write_text(api.issue_token(installed.namespace, _ACCOUNT))
    given = settings | {
        "spark.kubernetes.authenticate.caCertFile": str(control_plane.ca),
        "spark.kubernetes.authenticate.oauthTokenFile": str(token),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        # Executors that do not run answer nothing; here the driver must not wait for them.
        "spark.scheduler.minRegisteredResourcesRatio": "0",
        "spark.driver.port": "0",
        "spark.driver.blockManager.port": "0",
    }
    words = command(given, "client", str(Path(__file__).with_name("idle_driver.py")))
    with (tmp_path / "driver.log").open("wb") as log:
        running = subprocess.Popen(words, env=environment(), stdout=log, stderr=log)
    yield running
    running.kill()
    running.wait(30)


def test_the_driver_s_account_starts_and_ends_executors(api, installed, driver, tmp_path):
    """Have Spark itself ask for executors, and delete them, by the rights of the chart's Role."""
    log = (tmp_path / "driver.log").read_text

    def executors() -> list[Manifest]:
        return api.pods(installed.namespace, component="executor")

    until(lambda: len(executors()) == 4, describe=log)
    accounts = {one["spec"]["serviceAccountName"] for one in executors()}
    settings = f"ConfigMap/{_config_map_of(executors()[0])}"
    assert settings in api.names(installed.namespace)

    driver.terminate()  # as Kubernetes ends a driver's pod
    driver.wait(120)

    assert "orbidden" not in log()
    assert "check account permissions" not in log()
    assert accounts == {"lineward-executor"}
    until(lambda: not executors(), describe=log)
    until(lambda: settings not in api.names(installed.namespace), describe=log)


def _config_map_of(pod: Manifest) -> str:
    """Return the ConfigMap with Spark's settings that an executor mounts."""
    volumes = [one for one in pod["spec"]["volumes"] if one["name"].startswith("spark-conf-volume")]
    return str(volumes[0]["configMap"]["name"])
