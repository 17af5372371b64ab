"""Push of dashboards into a Grafana, in a process of its own, as a person or a deployment would."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.grafana.rendering import DEFAULT_URL, render_document
from lineage.policy import DEFAULT
from tests.dashboards.boards import UIDS
from tests.fakes.grafana import FakeGrafana
from tests.fakes.http_server import Answer
from tests.service.commandline import lineward


@pytest.fixture
def grafana() -> Iterator[FakeGrafana]:
    """Start an empty Grafana with both data sources."""
    made = FakeGrafana()
    made.start()
    yield made
    made.stop()


def push(
    grafana: FakeGrafana, folder: Path, *more: str, token: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Return the result of the command."""
    file = folder / "token"
    file.write_text(f"{grafana.token if token is None else token}\n")
    urls = ("--grafana-url", grafana.url, "--lineward-url", DEFAULT_URL)
    return lineward("dashboards", "push", *urls, "--token-file", str(file), *more)


def test_all_three_are_created_in_their_folder(grafana, tmp_path):
    """Create the folder too; store the rendered dashboards."""
    answer = push(grafana, tmp_path)

    assert (answer.returncode, answer.stderr) == (0, "")
    assert [line.split() for line in answer.stdout.splitlines()] == [
        ["created", f"{grafana.url}/d/{uid}"] for uid in UIDS
    ]
    assert grafana.folders == {"lineward": "Lineward"}
    for uid, text in render_document(DEFAULT).items():
        folder, kept = grafana.dashboards[uid]
        assert folder == "lineward"
        assert {**kept, "id": 0, "version": 0} == {**json.loads(text), "id": 0, "version": 0}


def test_a_second_push_changes_nothing_and_undoes_an_edit(grafana, tmp_path):
    """Save no new version of the same; restore what was changed by hand."""
    push(grafana, tmp_path)
    again = push(grafana, tmp_path, "--json")
    assert [one["outcome"] for one in json.loads(again.stdout)] == ["unchanged"] * 3
    assert len(grafana.saved) == 3

    grafana.dashboards["lineward-on-call"][1]["title"] = "mine"
    grafana.folders["lineward"] = "Our lineage"
    fixed = push(grafana, tmp_path, "--json")

    assert [one["outcome"] for one in json.loads(fixed.stdout)] == [
        "unchanged",
        "updated",
        "unchanged",
    ]
    assert grafana.dashboards["lineward-on-call"][1]["title"] == "Lineage: on call"
    assert grafana.folders == {"lineward": "Our lineage"}


def test_a_token_without_access_to_missing_objects_is_enough(grafana, tmp_path):
    """Create them: Grafana answers an Editor that a missing object may not be seen."""
    grafana.is_open = False

    first = push(grafana, tmp_path, "--json")
    second = push(grafana, tmp_path, "--json")

    assert (first.returncode, first.stderr) == (0, "")
    assert [one["outcome"] for one in json.loads(first.stdout)] == ["created"] * 3
    assert [one["outcome"] for one in json.loads(second.stdout)] == ["unchanged"] * 3


def test_a_folder_without_read_access_is_used(grafana, tmp_path):
    """Treat the rejected creation as done; overwrite dashboards that may not be read."""
    push(grafana, tmp_path)
    grafana.may -= {"sources", "read"}

    answer = push(grafana, tmp_path, "--json")

    assert answer.returncode == 0
    assert [one["outcome"] for one in json.loads(answer.stdout)] == ["updated"] * 3
    assert answer.stderr == (
        "lineward: the token may not list data sources: check that Prometheus and Infinity exist\n"
    )


def _set_unknown_token(grafana: FakeGrafana) -> None:
    grafana.token = "another"  # noqa: S105 - of nobody


def _set_reader(grafana: FakeGrafana) -> None:
    grafana.may = {"sources", "read"}


def _answer_as_other_site(grafana: FakeGrafana) -> None:
    grafana.broken = Answer(404, "<html>", (("Content-Type", "text/html"),))


def _occupy_title(grafana: FakeGrafana) -> None:
    title = "Lineage: overview"
    grafana.folders["lineward"] = "Lineward"
    grafana.dashboards["mine"] = ("lineward", {"uid": "mine", "title": title, "version": 1})


def _provision(grafana: FakeGrafana) -> None:
    grafana.provisioned = {"lineward-executive"}


def _remove_infinity(grafana: FakeGrafana) -> None:
    grafana.sources = ["prometheus"]


def _redirect(grafana: FakeGrafana) -> None:
    grafana.broken = Answer(302, "", (("Location", "https://login.example/"),))


def _break_down(grafana: FakeGrafana) -> None:
    grafana.broken = Answer(503, {"message": "database is locked"})


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (_set_unknown_token, 6, "rejects the token: create one for a service account"),
        (_set_reader, 6, "does not permit this: the service account needs the role Editor"),
        (
            _answer_as_other_site,
            6,
            "--grafana-url is not the address of Grafana",
        ),
        (_occupy_title, 6, "412 A dashboard with the same name in the folder already exists"),
        (_provision, 6, "400 Cannot save provisioned dashboard"),
        (_remove_infinity, 6, "yesoreyeram-infinity-datasource: install the plugin"),
        (_redirect, 6, "redirects to 'https://login.example/': use this as --grafana-url"),
        (_break_down, 1, "failed (GET /api/datasources: 503 database is locked)"),
    ],
)
def test_a_rejection_by_grafana_is_reported_with_the_fix(grafana, tmp_path, fault, code, words):
    """Print one sentence on standard error and nothing on standard output, without the token."""
    shown = grafana.token
    fault(grafana)

    answer = push(grafana, tmp_path, token=shown)

    assert (answer.returncode, answer.stdout) == (code, "")
    assert words in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert shown not in answer.stderr


def test_a_grafana_without_a_response_is_named(grafana, tmp_path):
    """Report it at once, without a traceback."""
    grafana.stop()

    answer = push(grafana, tmp_path)

    assert answer.returncode == 1
    assert f"{grafana.url} does not answer" in answer.stderr


@pytest.mark.parametrize(
    ("more", "token", "words"),
    [
        (("--lineward-url", "lineward:8701"), None, "--lineward-url: expected http"),
        ((), "", "holds no token"),
        (("--policy", "/no/such.yaml"), None, "such.yaml: cannot be read"),
    ],
)
def test_an_invalid_command_is_reported_without_a_request(grafana, tmp_path, more, token, words):
    """Send nothing for an invalid command."""
    answer = push(grafana, tmp_path, *more, token=token)

    assert answer.returncode == 6
    assert words in answer.stderr
    assert grafana.requests == []
