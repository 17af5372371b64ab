"""Image without its layers: a folder built by the Dockerfile's steps, and Spark's driver in it.

The image itself cannot be built where there is no container engine.
"""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from slis.made_up_events import fill_spool
from tests.service.runtime.container.image import ROOT, context_files, install_steps
from tests.suite.waiting import until

_SHORT = "tests/slis/spark/test_session_settings.py::test_settings_of_spark_submit_are_kept"
pytestmark = [
    pytest.mark.nightly(short=_SHORT),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount file systems"),
]
BOX = Path(__file__).with_name("box.sh")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Return the folder that the image has as /opt/lineward."""
    place = tmp_path_factory.mktemp("image")
    for file in context_files():
        target = place / "src" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, target)
    folders = {"LINEWARD_PREFIX": f"{place}/lineward", "LINEWARD_TOOLS": f"{place}/tools"}
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for step in install_steps():
        subprocess.run(step, cwd=place / "src", env=environ | folders, check=True, timeout=1_200)
    shutil.copy2(ROOT / "helm/image/pipeline.py", place / "lineward/pipeline.py")
    shutil.rmtree(place / "src")  # what runs must not need the sources
    return place / "lineward"


def test_driver_keeps_what_spark_submit_gives_and_leaves_no_python_behind(prefix, tmp_path):
    """Start `driver` on a read-only root, with master, memory and partitions on the command line.

    SIGTERM ends Spark's JVM; the pipeline's Python process ends with it.
    """
    data, log = tmp_path / "data", tmp_path / "log"
    data.mkdir()
    fill_spool(data / "spool.db", ())  # without one, the pipeline waits for the collector
    partitions = "spark.sql.shuffle.partitions=5"
    given = ["--master", "local[3]", "--driver-memory", "900m", "--conf", partitions]
    with log.open("wb") as output:
        driver = subprocess.Popen(
            [
                *("unshare", "--mount", "sh", BOX, data, prefix, "--"),
                *(f"{prefix}/bin/python", "-m", "service.runtime.container", "driver"),
                *given,
                f"{prefix}/pipeline.py",
            ],
            # What the Dockerfile sets, and what Spark sets of a driver's pod; there is no HOME.
            env={
                "PATH": f"{prefix}/bin:/usr/bin:/bin",
                "PYTHONSAFEPATH": "1",
                "LINEWARD_DATA_DIR": str(data),
                "SPARK_DRIVER_BIND_ADDRESS": "127.0.0.1",
            },
            cwd="/",
            stdout=output,
            stderr=output,
        )
    try:
        opened = until(lambda: _spark_opened(driver, log), seconds=300)
        assert (opened["master"], opened["cores"]) == ("local[3]", 3)
        assert opened["heap_bytes"] == 900 << 20
        assert opened["shuffle_partitions"] == "5"
        until(lambda: (data / "lake").exists() or (data / "catalog.db").exists())
        [python] = _pythons_of(driver.pid)
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == 128 + signal.SIGTERM
        assert until(lambda: not Path(f"/proc/{python}/cmdline").exists())
    finally:
        driver.kill()
        driver.wait(30)


def test_bill_of_materials_lists_python_jars_and_listeners(prefix):
    """Check a component of each kind, and the listeners, which air-gapped clusters need."""
    components = json.loads((prefix / "sbom.cdx.json").read_text())["components"]
    versions = {(one["name"].lower(), one.get("version")) for one in components}

    assert ("pyspark", "4.3.0") in versions
    assert ("spark-kubernetes_2.13", "4.3.0") in versions
    assert {one.name.split("-1")[0] for one in (prefix / "listener").iterdir()} == {
        "openlineage-spark_2.12",
        "openlineage-spark_2.13",
    }
    assert {name for name, _ in versions} >= {"openlineage-spark_2.12", "lineward"}


def _spark_opened(driver, log):
    text = log.read_text(errors="replace")
    assert driver.poll() is None, text[-4_000:]
    return next(
        (json.loads(line) for line in text.splitlines() if '"event": "spark_opened"' in line), None
    )


def _pythons_of(pid):
    """Return the pipeline's processes that any thread of Spark's JVM has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    children = [child for each in lists for child in each.read_text().split()]
    return [one for one in children if b"pipeline.py" in Path(f"/proc/{one}/cmdline").read_bytes()]
