"""Values and options that docs/kubernetes shows: Helm accepts them as they are."""

import re
from pathlib import Path

import pytest

from tests.helm.charts import CHART, run_helm

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "kubernetes"
_YAML = re.compile(r"(?ms)^```yaml\n(.*?)^```")


def _template(*options: str) -> str:
    """Return what Helm prints on standard error: nothing if it accepts the options."""
    return run_helm("template", "lineward", str(CHART), "-n", "lineward", *options).stderr


@pytest.mark.parametrize("page", ["install.md", "scaled-mode.md"])
def test_documented_values_are_accepted(page: str, tmp_path: Path):
    """Render the chart with the first values file of a page."""
    values = tmp_path / "values.yaml"
    values.write_text(_YAML.findall((_PAGES / page).read_text())[0])

    assert _template("-f", str(values)) == ""


def test_documented_trial_is_accepted():
    """Render the chart with the options of the first page; Helm rejects the first one alone."""
    options = re.findall(r"--set (\S+)", (_PAGES / "README.md").read_text())

    assert options == ["image.registry=registry.example.com", "access.insecure=true"]
    assert _template(*(f"--set={one}" for one in options)) == ""
    assert "access.collectorToken.name" in _template(f"--set={options[0]}")
