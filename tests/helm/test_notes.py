"""Check what the notes of an installation warn of."""

import pytest

from tests.helm.charts import find, read_notes

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
