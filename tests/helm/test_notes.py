"""Check what the notes of an installation warn of."""

import json
import shlex
from typing import Any

import pytest
from typer.testing import CliRunner

from service.cli.commands.render import app
from tests.helm.charts import find, read_notes, render

pytestmark = pytest.mark.xdist_group("helm")


def test_notes_warn_of_an_image_without_a_registry():
    """Compare an installation with a registry with one without: there is no released image."""
    warning = "WARNING: image.registry is empty"

    assert warning in read_notes("embedded")
    assert warning not in read_notes("full")


def test_notes_say_which_release_of_the_operator_is_needed_and_how_to_clean_up():
    """Compare the selector of the command with the labels of the pods that Spark makes."""
    notes = read_notes("scaled")
    application = find("scaled", "SparkApplication")
    labels = [
        application["metadata"]["labels"] | application["spec"][part]["labels"]
        for part in ("driver", "executor")
    ]
    components = ",".join(one["app.kubernetes.io/component"] for one in labels)
    selector = f"app.kubernetes.io/component in ({components})"

    assert "2.4.0 or newer" in notes
    assert f"delete pod -l 'app.kubernetes.io/instance=lineward,{selector}'" in notes
    assert {one["app.kubernetes.io/instance"] for one in labels} == {"lineward"}
    assert "2.4.0" not in read_notes("scaled-deployment")


def test_notes_warn_of_a_second_release_under_one_prometheus():
    """Read the notes with rules and without: rules know jobs by name."""
    warning = "Give each release a Prometheus of its own"

    assert warning in read_notes("full")
    assert warning not in read_notes("embedded")


def test_notes_warn_of_a_load_balancer_that_the_network_policy_closes():
    """Install with a LoadBalancer: the default peers are pods, and an `ipBlock` admits others."""
    warning = "WARNING: services.collector.type is LoadBalancer"
    block = "networkPolicy.ingress.collector[0].ipBlock.cidr=192.0.2.0/24"

    assert warning in read_notes("full")
    assert warning not in read_notes("full", "--set", block)
    assert warning not in read_notes("full", "--set", "networkPolicy.enabled=false")
    assert warning not in read_notes("embedded")


_OTHER_RELEASE = (
    *("--set", "fullnameOverride=lineage,listener.scala=2.12,listener.namespace=shop"),
    *("--set", "listener.maven=false,listener.eventLogDir=s3a://logs"),
)


@pytest.mark.parametrize("options", [("--set", "listener.maven=false"), _OTHER_RELEASE])
def test_notes_print_the_command_for_the_settings_of_this_release(options: tuple[str, ...]):
    """Run the command, and compare its settings with those of the ConfigMap.

    Mutant: without the options, jobs fetch the jar from a release `lineward` in its namespace.
    """
    notes = read_notes("full", *options)
    line = next(line for line in notes.splitlines() if "render spark-conf" in line)
    words = shlex.split(line.replace("NAME", "any"))
    assert words[0] == "lineward"
    printed: dict[str, str] = json.loads(CliRunner().invoke(app, [*words[2:], "--json"]).stdout)
    file = CliRunner().invoke(app, words[2:]).stderr

    text = _spark_defaults("full", *options)
    of_secret = {name for name in printed if name.startswith("spark.kubernetes.")}
    assert len(of_secret) == 2
    assert {name: value for name, value in printed.items() if name not in of_secret} == text
    assert f"url: {_collector_url(notes)}\n" in file


def _spark_defaults(name: str, *options: str) -> dict[str, str]:
    objects: list[dict[str, Any]] = [
        one for one in render(name, *options) if "spark-defaults.conf" in one.get("data", {})
    ]
    return dict(
        line.split(" ", 1) for line in objects[0]["data"]["spark-defaults.conf"].splitlines()
    )


def _collector_url(notes: str) -> str:
    """Return the address that the notes name for the events of jobs."""
    _, _, rest = notes.partition("Send the events of your jobs to\n")
    return rest.split()[0]


def test_notes_say_what_the_volume_holds():
    """Compare a catalog in SQLite with one in PostgreSQL, which the volume does not hold."""
    sqlite = read_notes("embedded")
    postgresql = read_notes("embedded", "--set", "catalog.urlSecret.name=lineward-catalog")

    assert "with all data on its volume." in sqlite
    assert "data-lineward-0 deletes all data.\n" in sqlite
    assert "with its catalog in PostgreSQL and all other data on its volume." in postgresql
    assert "deletes the spool and the lake, and not the catalog in PostgreSQL." in postgresql
