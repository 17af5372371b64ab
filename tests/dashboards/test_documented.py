"""Documentation of the dashboards, compared with their code."""

import json
from pathlib import Path

import pytest
import yaml

from dashboards.grafana.outputs import outlines
from tests.dashboards.boards import GENERATED, UIDS, every_panel
from tests.dashboards.test_promql import RIGHTLY_EMPTY
from tests.service.commandline import lineward

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "dashboards.md"
MARK = "<!-- by lineward render dashboards --format outline -->\n\n"


def test_the_outline_is_that_of_the_committed_dashboards():
    """Compare rows, panels, descriptions and queries."""
    _, written = DOCUMENT.read_text("utf-8").split(MARK)
    made = outlines({uid: (GENERATED / f"{uid}.json").read_text("utf-8") for uid in UIDS})

    assert written == made
    for _, panel in every_panel():
        assert panel["title"] in written


def test_no_panel_advises_an_action_without_its_plan():
    """Name the runbook in place of a command with `--yes`: it says when the command is right."""
    assert [panel["title"] for _, panel in every_panel() if "--yes" in panel["description"]] == []


def test_no_document_limits_m8_to_two_channels():
    """Find no channels by name: each counts, except the webhook for tickets."""
    docs = [each.read_text("utf-8") for each in DOCUMENT.parent.glob("*.md")]
    shown = [panel["title"] + panel["description"] for _, panel in every_panel()]

    assert [text for text in docs + shown if "Slack or PagerDuty accept" in text] == []


def test_files_are_written_and_named(tmp_path):
    """Write the three dashboards, and their provider, which reads the folder that Grafana sees."""
    out = tmp_path / "made"
    answer = lineward("render", "dashboards", "--out", str(out), "--path", "/dashboards")

    names = [f"{uid}.json" for uid in UIDS] + ["lineward-dashboards.yaml"]
    assert answer.stdout.split() == [str(out / name) for name in names]
    assert json.loads((out / names[0]).read_text())["uid"] == UIDS[0]
    (provider,) = yaml.safe_load((out / names[-1]).read_text())["providers"]
    assert provider["options"] == {"path": "/dashboards"}
    assert (provider["folderUid"], provider["allowUiUpdates"]) == ("lineward", False)


def test_config_maps_and_the_outline_are_printed(tmp_path):
    """Print them, or write them to a named folder."""
    printed = lineward("render", "dashboards", "--format", "configmap").stdout
    answer = lineward("render", "dashboards", "--format", "outline", "--out", str(tmp_path))

    assert len(list(yaml.safe_load_all(printed))) == 3
    assert (tmp_path / "lineward-dashboards.md").read_text().startswith("## Lineage: overview")
    assert answer.returncode == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "--out: name a folder for the files"),
        (("--out", "/proc/none"), "--out: /proc/none cannot be written"),
        (("--out", "made", "--lineward-url", "nowhere"), "--lineward-url: expected http"),
    ],
)
def test_a_failed_rendering_names_the_option(words, text):
    """Print a message that names the option."""
    answer = lineward("render", "dashboards", *words)

    assert (answer.returncode, answer.stdout) == (6, "")
    assert text in answer.stderr


def test_each_entry_of_rightly_empty_names_a_panel():
    """Find the panel: a stale entry would hide the next mistake."""
    names = {f"{uid}: {panel['title']}" for uid, panel in every_panel()}

    assert {name.rpartition(" ")[0] for name in RIGHTLY_EMPTY} <= names
