"""Renders the chart with Helm itself, each values file once in a process."""

import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "lineward"
TOOLS = ROOT / "build" / "chart"
RELEASE, NAMESPACE = "lineward", "data"
VALUES = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").iterdir())
SCALED = [name for name in VALUES if name.startswith("scaled")]
each_values_file = pytest.mark.parametrize("name", VALUES)
each_embedded = pytest.mark.parametrize("name", [name for name in VALUES if name not in SCALED])
each_scaled = pytest.mark.parametrize("name", SCALED)

Manifest = dict[str, Any]


def run_helm(*words: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """Run Helm, which `scripts/setup.sh test` fetches."""
    command = [str(TOOLS / "helm"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)


def values_path(name: str) -> Path:
    """Return the path of a values file of `ci/`."""
    return CHART / "ci" / f"{name}-values.yaml"


@functools.cache
def render_text(name: str, *options: str) -> str:
    """Return what `helm template` prints for a values file of `ci/`."""
    file = str(values_path(name))
    words = ("template", RELEASE, str(CHART), "-n", NAMESPACE, "-f", file, *options)
    answer = run_helm(*words)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@functools.cache
def render(name: str, *options: str) -> tuple[Manifest, ...]:
    """Return the objects of a values file of `ci/`."""
    found = yaml.load_all(render_text(name, *options), yaml.CSafeLoader)
    return tuple(one for one in found if one)


@functools.cache
def read_notes(name: str, *options: str) -> str:
    """Return the notes that `helm install` prints for a values file of `ci/`."""
    file = str(values_path(name))
    words = ("install", RELEASE, str(CHART), "-n", NAMESPACE, "-f", file, "--dry-run=client")
    answer = run_helm(*words, *options)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.partition("NOTES:")[2]


def find_all(name: str, kind: str) -> list[Manifest]:
    """Return the objects of this kind."""
    return [one for one in render(name) if one["kind"] == kind]


def find(name: str, kind: str, suffix: str = "") -> Manifest:
    """Return the only object of this kind with this end of its name."""
    (one,) = [one for one in find_all(name, kind) if one["metadata"]["name"].endswith(suffix)]
    return one


def list_containers(pod: Manifest) -> list[Manifest]:
    """Return the containers of a pod template, those of its start first."""
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def list_pods(name: str) -> Iterator[tuple[str, Manifest]]:
    """Yield kind and pod template (metadata and spec) of each object that runs a pod."""
    for one in render(name):
        if one["kind"] == "Pod":
            yield "Pod", one
        elif one["kind"] == "SparkApplication":
            yield "SparkDriver", one["spec"]["driver"]["template"]
            yield "SparkExecutor", one["spec"]["executor"]["template"]
        elif isinstance(one.get("spec"), dict) and "template" in one["spec"]:
            yield one["kind"], one["spec"]["template"]


def select(name: str, selector: dict[str, str]) -> list[Manifest]:
    """Return the pod templates with these labels."""
    pods = [pod for _, pod in list_pods(name)]
    return [pod for pod in pods if selector.items() <= pod["metadata"]["labels"].items()]


def ports_of(pod: Manifest) -> dict[str, int]:
    """Return the ports of a pod template by name."""
    found = [port for one in list_containers(pod) for port in one.get("ports", [])]
    return {port["name"]: port["containerPort"] for port in found}


def env_of(container: Manifest) -> dict[str, str]:
    """Return the variables of a container; a reference counts as a name."""
    return {one["name"]: one.get("value", "x") for one in container.get("env", [])}
