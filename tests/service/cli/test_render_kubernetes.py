"""Settings of a Spark job in a cluster, against the definitions and the documentation."""

import json
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from lineage.errors import InvalidRequestError
from service.cli.commands.render import app
from service.ingest.kubernetes.manifests import has_listener
from service.ingest.spark.kubernetes_conf import Cluster, cluster_settings
from service.ingest.spark.spark_conf import Destinations
from tests.fakes.kubernetes import application
from tests.helm.crds import load_schema
from tests.helm.restricted import find_violations
from tests.helm.schemas import KUBERNETES, find_errors

JAR = "http://lineward.lineward.svc:8701/listener/openlineage-spark_2.13.jar"
DOCS = Path(__file__).resolve().parents[3] / "docs" / "kubernetes" / "spark-jobs.md"
_TRANSPORT = "spark.openlineage.transport"


def render(*options: str) -> str:
    """Return what `lineward render spark-conf --kubernetes` prints."""
    done = CliRunner().invoke(app, ["spark-conf", "--kubernetes", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def render_hint(*options: str) -> str:
    """Return what the command prints on standard error."""
    done = CliRunner().invoke(app, ["spark-conf", "--kubernetes", *options])
    assert done.exit_code == 0, done.output
    return done.stderr


def conf_of(*options: str) -> dict[str, str]:
    """Return the settings."""
    found: dict[str, str] = json.loads(render("--json", *options))
    return found


@pytest.mark.parametrize("options", [(), ("--config-secret", "ol"), ("--events-claim", "events")])
def test_the_manifest_is_valid_for_the_kubeflow_operator(options):
    """Merge it into an application, check it strictly, and find the listener as the watch does."""
    schema = load_schema("sparkoperator.k8s.io", "v1beta2", "SparkApplication")
    assert schema is not None
    merged: dict[str, Any] = application("orders", None)
    merged["spec"] |= yaml.safe_load(render(*options))["spec"]

    assert (
        list(Draft202012Validator(schema).iter_errors(merged | {"status": {"driverInfo": {}}}))
        == []
    )
    assert merged["spec"]["deps"]["jars"] == [JAR]
    assert has_listener(merged)


def test_each_form_has_the_same_settings():
    """Compare Kubeflow's, Apache's and spark-submit's form."""
    settings = conf_of()
    kubeflow = yaml.safe_load(render())["spec"]
    apache = yaml.safe_load(render("--operator", "apache"))["spec"]
    words = shlex.split(render("--arguments").replace("\\\n", ""))

    assert apache["sparkConf"] == settings
    assert {"spark.jars": JAR, **kubeflow["sparkConf"]} == settings
    assert dict(word.split("=", 1) for word in words if word != "--conf") == settings


def test_a_job_reports_to_the_collector_s_service_and_needs_no_folder():
    """Send over HTTP alone: without a volume there is nowhere to write a file or an event log."""
    settings = conf_of()

    assert settings[f"{_TRANSPORT}.transports.http.url"] == (
        "http://lineward-collector.lineward.svc:8700"
    )
    assert not [name for name in settings if "file" in name or "eventLog" in name]
    assert "spark.jars.packages" not in settings


def test_the_variable_of_the_collector_s_address_comes_before_the_chart_s_service(monkeypatch):
    """Take the option first, then LINEWARD_COLLECTOR_URL, as without --kubernetes."""
    url = f"{_TRANSPORT}.transports.http.url"
    monkeypatch.setenv("LINEWARD_COLLECTOR_URL", "http://events.example:8700")

    assert conf_of()[url] == "http://events.example:8700"
    assert conf_of("--collector-url", "http://other:8700")[url] == "http://other:8700"


def test_options_add_a_volume_event_logs_and_a_secret():
    """Use settings that Spark itself applies, without an operator's webhook."""
    claim = "spark.kubernetes.driver.volumes.persistentVolumeClaim.lineward-events"
    kept = conf_of("--events-claim", "events", "--event-log-dir", "s3a://logs", "--name", "orders")
    assert kept[f"{claim}.options.claimName"] == "events"
    assert kept[f"{claim}.mount.path"] == "/var/spool/openlineage"
    assert kept[f"{_TRANSPORT}.transports.file.location"] == "/var/spool/openlineage/orders.jsonl"
    assert kept["spark.eventLog.dir"] == "s3a://logs"

    secret = conf_of("--config-secret", "lineward-openlineage")

    assert secret["spark.kubernetes.driver.secrets.lineward-openlineage"] == "/etc/openlineage"
    config = secret["spark.kubernetes.driverEnv.OPENLINEAGE_CONFIG"]
    assert config == "/etc/openlineage/openlineage.yml"
    assert not [name for name in secret if name.startswith(_TRANSPORT)]
    assert conf_of("--spark", "3.5")["spark.jars"].endswith("openlineage-spark_2.12.jar")


@pytest.mark.parametrize("options", [(), ("--operator", "apache")])
def test_the_documented_recipes_match_the_output(options):
    """Find the whole output in a block of docs/kubernetes/spark-jobs.md."""
    assert f"```yaml\n{render(*options)}```" in DOCS.read_text()


def test_the_file_of_a_secret_is_printed_beside_the_settings():
    """Print `openlineage.yml` on standard error; name the pod that a claim needs.

    Mutant: without the file transport a claim would stay empty.
    """
    assert render_hint() == ""
    http = yaml.safe_load(render_hint("--config-secret", "ol"))
    both = render_hint("--config-secret", "ol", "--events-claim", "events", "--name", "orders")

    assert list(http["transport"]["transports"]) == ["http"]
    assert http["transport"]["transports"]["http"]["auth"]["apiKey"] == "TOKEN"
    assert "location: /var/spool/openlineage/orders.jsonl" in both
    assert list(yaml.safe_load(both)["transport"]["transports"]) == ["file", "http"]
    assert "Run `lineward ship /var/spool/openlineage` in a pod that mounts the claim events" in (
        both
    )
    assert yaml.safe_load(render_hint("--events-claim", "events")) is None


def test_the_documented_commands_print_the_documented_file():
    """Run the command of "Lose no events"; its file is in the page."""
    words = ("--config-secret", "orders-openlineage", "--events-claim", "openlineage-events")
    lines = render_hint(*words, "--name", "orders").splitlines()
    page = DOCS.read_text()

    assert f"spark-conf --kubernetes {' '.join(words)} --name orders\n" in page
    assert "\n".join(f"   {line}" for line in lines if not line.startswith("#")) in page


@pytest.mark.parametrize("version", KUBERNETES)
def test_the_documented_pod_of_ship_is_valid(version: str):
    """Check claim and Deployment strictly, and the pod against the standard `restricted`."""
    text = DOCS.read_text()
    block = next(part for part in text.split("```") if "kind: Deployment" in part)
    claim, deployment = yaml.safe_load_all(textwrap.dedent(block.removeprefix("yaml\n")))
    pod = deployment["spec"]["template"]["spec"]

    assert find_errors(claim, version) + find_errors(deployment, version) == []
    assert find_violations(pod) == []
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"config_secret": "../x"},
        {"events_claim": "a b"},
        {"jar_url": "http://a/x.jar,http://b/y.jar"},
        {"jar_url": "http://a/x.jar\nspark.master local"},
    ],
)
def test_names_that_would_end_a_setting_are_rejected(wrong):
    """Reject what is no name, and more than one jar."""
    place = Destinations(
        url="http://c:8700", folder=Path("/f"), name="e", namespace="shop", event_logs="/f"
    )

    with pytest.raises(InvalidRequestError):
        cluster_settings(place, Cluster(**{"jar_url": JAR} | wrong))
