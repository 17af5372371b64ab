"""Values and options that docs/kubernetes shows: Helm accepts them as they are."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from lineage.policy.reading import load_policy
from tests.helm.charts import CHART, Manifest, run_helm

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "kubernetes"
_YAML = re.compile(r"(?ms)^```yaml\n(.*?)^```")
_SECRET = re.compile(r"create secret generic (\S+)")
each_page = pytest.mark.parametrize("page", ["install.md", "scaled-mode.md"])


def _template(*options: str) -> str:
    """Return what Helm prints on standard error: nothing if it accepts the options."""
    return run_helm("template", "lineward", str(CHART), "-n", "lineward", *options).stderr


@each_page
def test_documented_values_are_accepted(page: str, tmp_path: Path):
    """Render the chart with the values file of a page, without an error or a warning."""
    assert _render_page(page, tmp_path)


def _render_page(page: str, folder: Path) -> str:
    """Render the chart with the values file of a page."""
    values = folder / "values.yaml"
    blocks = _YAML.findall((_PAGES / page).read_text())
    values.write_text(
        next(text for text in blocks if "\naccess: {" in f"\n{text}" or "image:" in text)
    )
    rendered = run_helm("template", "lineward", str(CHART), "-n", "lineward", "-f", str(values))
    assert rendered.stderr == ""
    return rendered.stdout


@each_page
def test_documented_images_name_a_registry(page: str, tmp_path: Path):
    """Pull every image from a registry, where the nodes find it.

    Mutant: without `image` in the values of scaled-mode.md, pods pull `lineward:0.1.0`.
    """
    images = set(re.findall(r'\bimage: "?([^\s"]+)', _render_page(page, tmp_path)))

    assert {one.partition("/")[0] for one in images} == {"registry.example.com"}


@each_page
def test_documented_secrets_reach_the_pods(page: str, tmp_path: Path):
    """Mount each Secret that the pages create, also that of Slack, which the policy needs.

    Mutants: without `notifications.slack` or `access.secrets`, pods lack a Secret.
    """
    pages = {"install.md", page}  # scaled-mode.md creates the Secrets of install.md too
    texts = [(_PAGES / each).read_text() for each in pages]
    created = {name for each in texts for name in _SECRET.findall(each)}
    pods = [pod["spec"] for pod in _list_pods(_render_page(page, tmp_path))]
    volumes = [each for pod in pods for each in pod.get("volumes", [])]
    sources = [one for each in volumes for one in each.get("projected", {}).get("sources", [])]

    mounted = {one["secret"].get("secretName") for one in volumes if "secret" in one}
    mounted |= {one["secret"]["name"] for one in sources if "secret" in one}
    assert created - mounted == set()


def _list_pods(rendered: str) -> list[Manifest]:
    """Return the templates of pods that controllers of Kubernetes run."""
    found = [one for one in yaml.safe_load_all(rendered) if one]
    return [one["spec"]["template"] for one in found if "template" in one.get("spec", {})]


def test_documented_event_logs_reach_the_pipeline(tmp_path: Path):
    """Render "Event logs" of configure.md: the pod has the variable, the folder and the group.

    Mutants: without `extraVolumeMounts` the folder is not in the pod; without `supplementalGroups`
    the pod may not read the logs.
    """
    section = (_PAGES / "configure.md").read_text().partition("\n## Event logs\n")[2]
    values = tmp_path / "values.yaml"
    values.write_text(textwrap.dedent(section.partition("```yaml\n")[2].partition("   ```")[0]))
    rendered = run_helm(
        *("template", "lineward", str(CHART), "--set=access.insecure=true", "-f", str(values)),
        *("-s", "templates/embedded/statefulset.yaml"),
    )
    pod = yaml.safe_load(rendered.stdout)["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {one["name"]: one.get("value") for one in container["env"]}
    folder = variables["LINEWARD_PIPELINE_EVENT_LOGS"].removeprefix("file://")

    assert rendered.stderr == ""
    assert folder in {one["mountPath"] for one in container["volumeMounts"]}
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
        "supplementalGroups": [185],
    }


def test_documented_policy_of_scaled_mode_is_valid(tmp_path: Path):
    """Load the policy of scaled-mode.md as a role does; its tokens are in a mounted Secret."""
    file = tmp_path / "lineward.yaml"
    blocks = _YAML.findall((_PAGES / "scaled-mode.md").read_text())
    file.write_text(next(text for text in blocks if text.startswith("owners:")))

    policy = load_policy(file)

    assert policy.guard is not None
    assert [one.token_file for one in policy.guard.tokens] == [
        "/etc/lineward/secrets/lineward-reader/token"
    ]


def test_documented_trial_is_accepted():
    """Render the chart with the options of the first page; Helm rejects the first one alone."""
    options = re.findall(r"--set (\S+)", (_PAGES / "README.md").read_text())

    assert options == ["image.registry=registry.example.com", "access.insecure=true"]
    assert _template(*(f"--set={one}" for one in options)) == ""
    assert "access.collectorToken.name" in _template(f"--set={options[0]}")
