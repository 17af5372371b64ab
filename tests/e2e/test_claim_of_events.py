"""Recipe of docs/kubernetes/spark-jobs.md for a token and a claim, with a real job."""

import json
from pathlib import Path

import pytest
import yaml

from service.ingest.spark.kubernetes_conf import PLACEHOLDER
from tests.collector.running import ROOT, Collector
from tests.service.commandline import lineward
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

_PAGE = ROOT / "docs" / "kubernetes" / "spark-jobs.md"
_JAR = next((ROOT / "build" / "ivy" / "jars").glob("io.openlineage_openlineage-spark_2.13-*.jar"))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Write the input files of `jobs/visits.py`."""
    lake = tmp_path / "lake"
    rows = {"visits": "page,visitor\n/a,1\n/b,2\n", "pages": "page,section\n/a,news\n/b,sports\n"}
    for name, text in rows.items():
        (lake / name).mkdir(parents=True)
        (lake / name / "part.csv").write_text(text)
    return lake


def test_events_arrive_by_http_and_by_the_documented_pod(
    tmp_path: Path, lake: Path, run, monkeypatch: pytest.MonkeyPatch
):
    """Send to a collector with a token; then ship the claim to another one, which lacks all.

    Mutants: an `openlineage.yml` without `file`, without `auth`; a pod without `--token-file`.
    """
    token = tmp_path / "token"
    token.write_text("sesame")
    folder = tmp_path / "claim"
    folder.mkdir()
    first = Collector(tmp_path / "first", token_file=token).ready()

    settings, file = _render(first.url, folder)
    config = tmp_path / "openlineage.yml"
    config.write_text(file.replace(PLACEHOLDER, "sesame"))
    # Kubernetes sets it from spark.kubernetes.driverEnv.
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(config))
    run("visits", lake, settings)
    written = set((folder / "visits.jsonl").read_bytes().splitlines())
    until(lambda: _read_stored(first) == written, seconds=60)
    first.stop()
    second = Collector(tmp_path / "second", token_file=token).ready()
    shipped = lineward(*_ship_arguments(folder, second.url, token), "--once", "--json")
    stored = _read_stored(second)
    second.stop()

    assert len(written) > 3
    assert (shipped.returncode, shipped.stderr) == (0, "")
    assert stored == written


def _render(url: str, folder: Path) -> tuple[dict[str, str], str]:
    """Return the settings, and the file for the Secret."""
    names = ("--config-secret", "s", "--events-claim", "c", "--name", "visits")
    places = ("--collector-url", url, "--folder", str(folder), "--jar-url", f"file:{_JAR}")
    done = lineward("render", "spark-conf", "--kubernetes", "--json", *names, *places)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("lineward: ")]
    return json.loads(done.stdout), "\n".join(lines) + "\n"


def _ship_arguments(folder: Path, url: str, token: Path) -> list[str]:
    """Return the arguments of the documented pod, with the places of this test."""
    (manifest,) = (part for part in _PAGE.read_text().split("---\n") if "kind: Deployment" in part)
    pod = yaml.safe_load(manifest.partition("```")[0])["spec"]["template"]["spec"]
    places = {
        "/var/spool/openlineage": str(folder),
        "--url=http://lineward-collector.lineward.svc:8700": f"--url={url}",
        "--token-file=/etc/lineward/keys/token": f"--token-file={token}",
    }
    return [places.get(word, word) for word in pod["containers"][0]["args"]]


def _read_stored(collector: Collector) -> set[bytes]:
    return {bytes(body) for (body,) in collector.rows("SELECT body FROM event")}
