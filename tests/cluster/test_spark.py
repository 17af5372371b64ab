"""Submit the chart's SparkApplication to a real API server by Spark, as the operator does."""

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from tests.cluster.api import Api, RejectedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.releases import Release
from tests.helm.charts import Manifest, find
from tests.helm.spark_pods import write_settings
from tests.service.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
_DRIVER = "lineward-pipeline-driver"
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
    given = write_settings(find("scaled", "SparkApplication"), tmp_path)
    return given | {
        "spark.master": f"k8s://{control_plane.url}",
        "spark.kubernetes.namespace": installed.namespace,
        "spark.kubernetes.driver.pod.name": _DRIVER,
        "spark.kubernetes.submission.waitAppCompletion": "false",
        "spark.kubernetes.authenticate.submission.caCertFile": str(control_plane.ca),
        "spark.kubernetes.authenticate.submission.oauthToken": control_plane.token,
    }


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("timeToLive", 5, 'unknown field "spec.timeToLive"'),
        ("type", "Phyton", 'Unsupported value: "Phyton"'),
        ("sparkConf", {"spark.ui.enabled": True}, "must be of type string"),
    ],
)
def test_the_definition_rejects_a_wrong_field(api, field, value, text):
    """Break the application in one place: what the real definition accepts is no accident."""
    broken = copy.deepcopy(find("scaled", "SparkApplication"))
    broken["spec"][field] = value

    with pytest.raises(RejectedError, match=text):
        api.create(broken, dryRun="All")


def test_spark_s_driver_is_admitted(api, installed, settings):
    """Submit as the operator does: the pod has the account, and Spark's objects are beside it."""
    before = api.names(installed.namespace)

    answer = _submit(settings)

    assert answer.returncode == 0, answer.stderr
    pod = api.get(f"/api/v1/namespaces/{installed.namespace}/pods/{_DRIVER}")
    assert pod["spec"]["serviceAccountName"] == _ACCOUNT
    made = {one.partition("/")[0] for one in api.names(installed.namespace) - before}
    assert made == {"Pod", "Service", "ConfigMap", "Endpoints", "EndpointSlice"}


def test_without_the_template_the_driver_is_rejected(api, installed, settings):
    """Leave the template out: admission says no, which shows that it looks at the driver."""
    del settings["spark.kubernetes.driver.podTemplateFile"]

    answer = _submit(settings)

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
    assert _submit(settings).returncode == 0
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
    command = _command(given, "client", str(Path(__file__).with_name("idle_driver.py")))
    with (tmp_path / "driver.log").open("wb") as log:
        running = subprocess.Popen(command, env=_environment(), stdout=log, stderr=log)
    yield running
    running.kill()
    running.wait(30)


def test_the_driver_s_account_starts_and_ends_executors(api, installed, driver, tmp_path):
    """Have Spark itself ask for executors, and delete them, by the rights of the chart's Role."""
    log = (tmp_path / "driver.log").read_text

    def executors() -> list[Manifest]:
        return api.pods(installed.namespace, component="executor")

    until(lambda: len(executors()) == 4, told=log)
    accounts = {one["spec"]["serviceAccountName"] for one in executors()}
    settings = f"ConfigMap/{_config_map_of(executors()[0])}"
    assert settings in api.names(installed.namespace)

    driver.terminate()  # as Kubernetes ends a driver's pod
    driver.wait(120)

    assert "orbidden" not in log()
    assert "check account permissions" not in log()
    assert accounts == {"lineward-executor"}
    until(lambda: not executors(), told=log)
    until(lambda: settings not in api.names(installed.namespace), told=log)


def _submit(settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    application = find("scaled", "SparkApplication")["spec"]["mainApplicationFile"]
    command = _command(settings, "cluster", application)
    return subprocess.run(
        command, env=_environment(), capture_output=True, text=True, check=False, timeout=300
    )


def _command(settings: dict[str, str], mode: str, application: str) -> list[str]:
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    return [str(_SUBMIT), "--deploy-mode", mode, *options, application]


def _environment() -> dict[str, str]:
    return os.environ | {"PYSPARK_PYTHON": sys.executable}


def _config_map_of(pod: Manifest) -> str:
    """Return the ConfigMap with Spark's settings that an executor mounts."""
    volumes = [one for one in pod["spec"]["volumes"] if one["name"].startswith("spark-conf-volume")]
    return str(volumes[0]["configMap"]["name"])
