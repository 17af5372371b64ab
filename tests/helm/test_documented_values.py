"""Values and options that docs/kubernetes shows: Helm accepts them as they are."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from lineage.policy.reading import load_policy
from tests.helm.charts import CHART, run_helm

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "kubernetes"
_YAML = re.compile(r"(?ms)^```yaml\n(.*?)^```")


def _template(*options: str) -> str:
    """Return what Helm prints on standard error: nothing if it accepts the options."""
    return run_helm("template", "lineward", str(CHART), "-n", "lineward", *options).stderr


@pytest.mark.parametrize("page", ["install.md", "scaled-mode.md"])
def test_documented_values_are_accepted(page: str, tmp_path: Path):
    """Render the chart with the values file of a page."""
    values = tmp_path / "values.yaml"
    blocks = _YAML.findall((_PAGES / page).read_text())
    values.write_text(
        next(text for text in blocks if "\naccess: {" in f"\n{text}" or "image:" in text)
    )

    assert _template("-f", str(values)) == ""


def test_documented_event_logs_reach_the_pipeline(tmp_path: Path):
    """Render "Event logs" of configure.md: the pod has the variable and mounts the folder.

    Mutant: without `extraVolumeMounts` the folder is not in the pod.
    """
    section = (_PAGES / "configure.md").read_text().partition("\n## Event logs\n")[2]
    values = tmp_path / "values.yaml"
    values.write_text(textwrap.dedent(section.partition("```yaml\n")[2].partition("   ```")[0]))
    rendered = run_helm(
        *("template", "lineward", str(CHART), "--set=access.insecure=true", "-f", str(values)),
        *("-s", "templates/embedded/statefulset.yaml"),
    )
    (container,) = yaml.safe_load(rendered.stdout)["spec"]["template"]["spec"]["containers"]
    variables = {one["name"]: one.get("value") for one in container["env"]}
    folder = variables["LINEWARD_PIPELINE_EVENT_LOGS"].removeprefix("file://")

    assert rendered.stderr == ""
    assert folder in {one["mountPath"] for one in container["volumeMounts"]}


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
