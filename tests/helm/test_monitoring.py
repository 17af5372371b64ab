"""Check what the chart gives Prometheus, Alertmanager, Grafana and Spark jobs."""

import json

import pytest
import yaml

from service.ingest.spark.kubernetes_conf import Cluster, cluster_settings, with_jar
from service.ingest.spark.spark_conf import Destinations, lossless_settings
from tests.helm import generate
from tests.helm.charts import (
    NAMESPACE,
    each_values_file,
    find,
    find_all,
    read_notes,
    render,
    render_text,
    values_path,
)
from tests.helm.crds import load_schema
from tests.helm.schemas import find_route_errors

pytestmark = pytest.mark.xdist_group("helm")


def test_alertmanager_routes_are_valid():
    """Check each route as the first one: the definition leaves those below it open."""
    schema = load_schema("monitoring.coreos.com", "v1alpha1", "AlertmanagerConfig")
    assert schema is not None
    route = find("full", "AlertmanagerConfig")["spec"]["route"]

    assert list(find_route_errors(route, schema["properties"]["spec"]["properties"]["route"])) == []
    assert len(route["routes"]) > 3


def test_objects_have_the_labels_that_select_them():
    """Check the labels of the values: Prometheus, Alertmanager and Grafana select by them."""
    values = yaml.safe_load(values_path("full").read_text())
    sections = {
        "ServiceMonitor": "serviceMonitor",
        "PrometheusRule": "rules",
        "AlertmanagerConfig": "alertmanagerConfig",
    }
    for kind, section in sections.items():
        labels = find("full", kind)["metadata"]["labels"]
        assert values["monitoring"][section]["labels"].items() <= labels.items()
    board = find("full", "ConfigMap", "-on-call")["metadata"]
    assert board["namespace"] == "grafana"
    assert board["labels"]["grafana_dashboard"] == "1"
    assert board["annotations"]["grafana_folder"] == "Lineward"


def test_a_service_monitor_selects_one_service_with_its_ports():
    """Check that each port is scraped once."""
    spec = find("full", "ServiceMonitor")["spec"]
    wanted = spec["selector"]["matchLabels"].items()
    (service,) = [
        one for one in find_all("full", "Service") if wanted <= one["metadata"]["labels"].items()
    ]

    assert sorted(one["port"] for one in spec["endpoints"]) == ["collector", "metrics"]
    assert {one["port"] for one in spec["endpoints"]} == {
        one["name"] for one in service["spec"]["ports"]
    }


@pytest.mark.parametrize(
    ("name", "kind", "field"),
    [("full", "ServiceMonitor", "endpoints"), ("argo-cd", "PodMonitor", "podMetricsEndpoints")],
)
def test_scrape_jobs_are_those_of_the_rules(name, kind, field):
    """Check the names of both jobs: an alert on a job of another name never ends."""
    endpoints = find(name, kind)["spec"][field]
    jobs = {one["port"]: one["relabelings"][0]["replacement"] for one in endpoints}
    rules = json.dumps(find(name, "PrometheusRule"))

    assert jobs == {"metrics": "lineward", "collector": "lineward-collector"}
    assert all(f'absent(up{{job=\\"{job}\\"}})' in rules for job in jobs.values())


@pytest.mark.parametrize(
    ("name", "section", "field"),
    [
        ("full", "serviceMonitor", "endpoints"),
        ("argo-cd", "podMonitor", "podMetricsEndpoints"),
    ],
)
def test_relabelings_of_the_values_come_after_that_of_the_job(name, section, field):
    """Add a relabeling of targets, one of samples, and a timeout."""
    path = f"monitoring.{section}"
    options = (
        f"{path}.relabelings[0].targetLabel=cluster,{path}.metricRelabelings[0].action=labeldrop"
        f",{path}.scrapeTimeout=5s"
    )
    (spec,) = [
        one["spec"]
        for one in render(name, "--set", options)
        if one["kind"].lower() == section.lower()
    ]

    for endpoint in spec[field]:
        assert [one["targetLabel"] for one in endpoint["relabelings"]] == ["job", "cluster"]
        assert endpoint["metricRelabelings"] == [{"action": "labeldrop"}]
        assert endpoint["scrapeTimeout"] == "5s"


def test_alerts_have_the_labels_of_the_values():
    """Check alerts for the namespace, which the operator adds to routes; recordings lack it."""
    groups = find("full", "PrometheusRule")["spec"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    wanted = {"cluster": "production", "namespace": NAMESPACE}.items()

    assert all(wanted <= rule["labels"].items() for rule in rules if "alert" in rule)
    assert not any("cluster" in rule.get("labels", {}) for rule in rules if "record" in rule)
    plain = find("argo-cd", "PrometheusRule")["spec"]["groups"]
    assert "namespace" not in json.dumps([rule["labels"] for rule in plain[0]["rules"]])


def test_rules_and_dashboards_of_an_own_policy_replace_the_default(tmp_path):
    """Give files as docs/kubernetes/configure.md does: by `--set-file`."""
    (tmp_path / "rules.yaml").write_text("groups: [{name: own, rules: []}]")
    (tmp_path / "board.json").write_text('{"uid": "own"}')
    content = (
        f"monitoring.rules.content={tmp_path}/rules.yaml,"
        f"monitoring.dashboards.content.lineward-debug={tmp_path}/board.json"
    )
    found = render("argo-cd", "--set-file", content)
    (rule,) = [one for one in found if one["kind"] == "PrometheusRule"]
    boards = {
        name: text
        for one in found
        if one["kind"] == "ConfigMap"
        for name, text in one["data"].items()
    }

    assert rule["spec"]["groups"] == [{"name": "own", "rules": []}]
    assert json.loads(boards["lineward-debug.json"]) == {"uid": "own"}
    assert json.loads(boards["lineward-on-call.json"])["uid"] == "lineward-on-call"


@each_values_file
def test_addresses_are_those_of_the_release(name):
    """Check that no host name of the chart's rendered files is left."""
    assert ".invalid" not in render_text(name)


def test_links_lead_to_the_public_address():
    """Check links of runbooks, dashboards and messages: the host of Ingress or HTTPRoute."""
    for name, url in {
        "full": "https://lineward.example.com",
        "argo-cd": "https://lineage.example.com",
    }.items():
        rule = find(name, "PrometheusRule")["spec"]["groups"][0]["rules"][0]
        board = find(name, "ConfigMap", "-executive")["data"]["lineward-executive.json"]

        assert rule["annotations"]["runbook_url"] == f"{url}/runbooks/Watchdog"
        assert f'"{url}' in board
        assert f'value: "{url}"' in render_text(name)
    assert 'value: "https://lineward.apps.example.com"' in render_text("openshift")
    assert 'value: "http://lineward.data.svc:8701"' in render_text("embedded")


def _read_spark_settings(name: str, *options: str) -> dict[str, str]:
    """Return the settings of the ConfigMap for jobs."""
    (text,) = [
        one["data"]["spark-defaults.conf"]
        for one in render(name, *options)
        if one["kind"] == "ConfigMap" and "spark-defaults.conf" in one["data"]
    ]
    return dict(line.split(" ", 1) for line in text.splitlines())


_PLACE = Destinations(
    url="http://lineward-collector.data.svc:8700",
    folder=generate.EVENT_FOLDER,
    name="events",
    namespace="shop",
    event_logs="s3a://logs/spark-events",
)


def test_spark_settings_are_those_of_the_product():
    """Compare with `render spark-conf`, with folders for events and for event logs."""
    options = (
        f"listener.namespace={_PLACE.namespace},listener.maven=true"
        f",listener.eventFolder={_PLACE.folder},listener.eventLogDir={_PLACE.event_logs}"
    )
    lines = _read_spark_settings("no-prometheus-operator", "--set", options)

    assert lines == {one.name: one.value for one in lossless_settings(_PLACE)}


def test_spark_settings_leave_the_token_to_the_file_of_the_job():
    """Compare with `render spark-conf --config-secret`: a transport here would replace the file."""
    cluster = Cluster(
        jar_url="http://lineward.data.svc:8701/listener/openlineage-spark_2.13.jar",
        event_logs=_PLACE.event_logs,
        config_secret="any",  # noqa: S106 - the name of a Secret
    )
    printed = with_jar(cluster_settings(_PLACE, cluster), cluster)
    lines = _read_spark_settings("full", "--set", "listener.maven=false")

    wanted = {one.name: one.value for one in printed}
    assert lines == {
        name: value for name, value in wanted.items() if not name.startswith("spark.kubernetes.")
    }
    assert "openlineage.yml" in read_notes("full")
    assert "openlineage.yml" not in read_notes("no-prometheus-operator")


def test_spark_settings_start_a_job_anywhere():
    """Check that event logs stay off without a folder: Spark does not start if it is missing."""
    text = find("argo-cd", "ConfigMap", "-spark")["data"]["spark-defaults.conf"]

    assert "spark.eventLog" not in text
    assert "transports.file" not in text
    assert "spark.jars.packages" not in text
    assert "spark.jars https://repository.example.com/" in text
