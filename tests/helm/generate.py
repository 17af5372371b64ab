"""Write what is generated in the chart: `make chart`, or `python -m tests.helm.generate`.

The rules, dashboards, Alertmanager's routes and Spark settings of the default policy are what
`lineward render` prints. The chart puts the addresses of a release in place of the host names
below. The README is made of the comments in values.yaml. The chart rejects a value that its mode
does not read, by the defaults in `files/mode-values.json`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from dashboards.grafana.rendering import render_document
from lineage.policy.model import DEFAULT
from service.cli.commands.render import app
from tests.helm.charts import CHART, render_text

GOLDEN = ("embedded", "scaled")
API = "http://api.lineward.invalid"
EVENT_FOLDER = Path("/var/spool/openlineage")
_RENDERED = {
    "files/rules.yaml": ("rules", "--lineward-url", API),
    "files/alertmanager.yaml": (
        *("alertmanager", "--lineward-url", API),
        *("--watchdog-url", "https://watchdog.lineward.invalid"),
        *("--outside-url", "https://outside.lineward.invalid"),
    ),
    "files/spark-conf.json": (
        *("spark-conf", "--collector-url", "http://collector.lineward.invalid", "--json"),
        *("--folder", str(EVENT_FOLDER), "--name", "events"),
    ),
}
# Beginnings of the values that one mode alone reads.
_ONLY_IN = {
    "embedded": ("embedded.", "podDisruptionBudget."),
    "scaled": (
        *("host", "log.", "lake.", "collector.", "pipeline.", "kafkaSource.", "marquez."),
        *("access.senderSecret", "catalog.passwordSecret", "kubernetesSource.pod."),
        *(f"service.{name}" for name in ("replicas", "preStop", "podDisruptionBudget.", "pod.")),
        *(f"networkPolicy.egress.{name}" for name in ("kafka", "kafkaSource", "marquez", "s3")),
    ),
}


def golden_path(name: str) -> Path:
    """Return the file with the manifests of a values file of `ci/`."""
    return Path(__file__).with_name("golden") / f"{name}.yaml"


def generate() -> dict[str, str]:
    """Return the text of each generated file by its path in the chart."""
    files = {path: _render(words) for path, words in _RENDERED.items()}
    boards = {
        f"files/dashboards/{uid}.json": text for uid, text in render_document(DEFAULT, API).items()
    }
    values = (CHART / "values.yaml").read_text()
    modes = {"files/mode-values.json": _render_mode_values(values)}
    return {**files, **boards, **modes, "README.md": render_readme(values)}


def _render_mode_values(values: str) -> str:
    """Return the defaults of the values that one mode alone reads, by mode and path."""
    defaults = {path: default for path, default, _ in list_values(values)}
    found = {
        mode: {path: default for path, default in defaults.items() if path.startswith(beginnings)}
        for mode, beginnings in _ONLY_IN.items()
    }
    return json.dumps(found, indent=1) + "\n"


def _render(words: tuple[str, ...]) -> str:
    answer = CliRunner(env={"LINEWARD_POLICY": None}).invoke(app, list(words))
    if answer.exit_code:
        raise RuntimeError(answer.output)
    return answer.stdout


def render_readme(values: str) -> str:
    """Return the chart's README: its head, and a table of the documented values.

    Raises:
        ValueError: a value has no comment.
    """
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for path, default, text in list_values(values):
        lines.append(f"| `{path}` | {_format_cell(default)} | {_mode_note(path)}{text} |")
    head = (CHART / "README.head.md").read_text()
    return head + "\n".join(lines) + "\n"


def _mode_note(path: str) -> str:
    notes = (
        f"**{mode.title()} mode.** " for mode, only in _ONLY_IN.items() if path.startswith(only)
    )
    return next(notes, "")


def list_values(values: str) -> Iterator[tuple[str, Any, str]]:
    """Yield path, default and comment of each documented value, in the order of the file.

    Raises:
        ValueError: a value has no comment.
    """
    comments = dict(_find_comments(yaml.compose(values, yaml.SafeLoader), values.splitlines()))
    for path, default in _list_leaves(yaml.safe_load(values), frozenset(comments)):
        if path not in comments:
            raise ValueError(f"values.yaml: {path} has no comment that begins with `# --`")
        yield path, default, comments[path]


def _find_comments(
    node: yaml.Node, lines: list[str], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield path and comment of each value with a line `# -- …` right above it."""
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        above = lines[key.start_mark.line - 1].strip() if key.start_mark.line else ""
        if above.startswith("# -- "):
            yield prefix + key.value, above.removeprefix("# -- ")
        yield from _find_comments(value, lines, f"{prefix}{key.value}.")


def _list_leaves(
    values: dict[str, Any], documented: frozenset[str], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield path and default of each value that is documented whole, or has no parts."""
    for name, value in values.items():
        path = prefix + name
        has_parts = isinstance(value, dict) and bool(value)
        is_documented_in_parts = any(one.startswith(f"{path}.") for one in documented)
        if has_parts and (is_documented_in_parts or path not in documented):
            yield from _list_leaves(value, documented, f"{path}.")
        else:
            yield path, value


def _format_cell(default: object) -> str:
    if default == "":
        return "-"
    shown = yaml.safe_dump(default, default_flow_style=True, sort_keys=False, width=10_000)
    return f"`{shown.removesuffix('...' + chr(10)).strip()}`"


if __name__ == "__main__":
    for path, text in generate().items():
        (CHART / path).parent.mkdir(parents=True, exist_ok=True)
        (CHART / path).write_text(text, encoding="utf-8")
    for name in GOLDEN:
        golden_path(name).parent.mkdir(exist_ok=True)
        golden_path(name).write_text(render_text(name), encoding="utf-8")
