"""Temporary files of the pipeline: the next start deletes all."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from slis.spark.session import empty_scratch


@pytest.fixture
def own_tempdir(monkeypatch):
    """Restore Python's own folder."""
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)


@pytest.mark.parametrize(
    "left", ["blockmgr-1/0c/shuffle_0_0_0.data", "spark-2/userFiles/x", "liblz4-java-3.so"]
)
@pytest.mark.usefixtures("own_tempdir")
def test_files_of_a_killed_pipeline_are_deleted_at_the_next_start(tmp_path, left):
    """Delete folders and files; create a missing folder."""
    folder = empty_scratch(tmp_path / "scratch")
    (folder / left).parent.mkdir(parents=True, exist_ok=True)
    (folder / left).write_bytes(b"x")

    assert empty_scratch(tmp_path / "scratch") == folder.absolute()

    assert list(folder.iterdir()) == []
    with tempfile.TemporaryDirectory() as made:
        assert Path(made).parent == folder


_KILLED = """
import os, signal, sys
from pathlib import Path
from slis.spark.session import empty_scratch, spark_session
spark = spark_session(scratch=empty_scratch(Path(sys.argv[1])), driver_memory="512m")
spark.range(1_000).repartition(2).count()
java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
os.kill(java, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_spark_leaves_nothing_elsewhere_when_it_is_killed(tmp_path):
    """Kill a real session with -9 after a shuffle; the folder's name has a space."""
    scratch = tmp_path / "data folder" / "scratch"
    command = [sys.executable, "-c", _KILLED, str(scratch)]
    killed = subprocess.run(command, check=False, capture_output=True, timeout=300)

    assert killed.returncode == -9, killed.stderr[-2_000:]
    left = {path.name.split("-")[0] for path in scratch.iterdir()}
    assert {"blockmgr", "liblz4", "spark"} <= left
