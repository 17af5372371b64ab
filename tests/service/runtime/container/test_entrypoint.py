"""Entrypoint of the image as a process: its command, its files and its stop."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from service.runtime.container import __main__ as entrypoint
from tests.collector.bodies import new_body
from tests.collector.running import Collector

ROOT = Path(__file__).resolve().parents[4]
BOX = Path(__file__).with_name("box.sh")
_can_mount = (
    os.geteuid() == 0
    and not subprocess.run(
        ["unshare", "--mount", "true"], check=False, capture_output=True
    ).returncode
)
needs_mounts = pytest.mark.skipif(not _can_mount, reason="only root can mount file systems")


def test_driver_becomes_spark_submit(tmp_path):
    """Check with a stub that the process is replaced: same process id, arguments, exit status."""
    stub = tmp_path / "bin" / "spark-submit"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\necho "$$ $SPARK_LOCAL_IP $*"\nexit 7\n')
    stub.chmod(0o755)
    # A Spark session of another test may have set its address here.
    outside = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"}
    pod = {"SPARK_HOME": str(tmp_path), "SPARK_DRIVER_BIND_ADDRESS": "10.0.0.7"}
    begun = subprocess.Popen(
        [sys.executable, "-m", "service.runtime.container", "driver", "local:///main file.py"],
        env={**outside, **pod},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    text, _ = begun.communicate(timeout=60)

    assert begun.returncode == 7
    assert text.startswith(f"{begun.pid} 10.0.0.7 --conf spark.driver.bindAddress=10.0.0.7")
    assert text.endswith("--deploy-mode client local:///main file.py\n")


@needs_mounts
def test_collector_runs_on_a_read_only_root_and_stops_at_sigterm(tmp_path, monkeypatch):
    """Check a container's life: no HOME, only /tmp and the data folder, one event, SIGTERM."""
    monkeypatch.delenv("HOME", raising=False)
    data = tmp_path / "data"
    data.mkdir()
    collector = Collector(
        data,
        before=("unshare", "--mount", "sh", str(BOX), str(data), "--"),
        program=("-m", "service.runtime.container", "collector"),
    )
    try:
        assert collector.ready().post(new_body()).status_code == 201
        assert collector.stop() == 0, collector.log()
    finally:
        collector.kill()
    assert collector.rows("SELECT count(*) FROM event") == [(1,)]


@needs_mounts
def test_box_of_these_tests_lets_nothing_else_be_written(tmp_path):
    """Check the box itself: a folder that is not named is read-only, for root too."""
    data, other = tmp_path / "data", tmp_path / "other"
    data.mkdir()
    other.mkdir()
    tried = "touch a/x; touch b/x 2>/dev/null || echo no; touch /etc/x 2>/dev/null || echo no"
    script = tried.replace("a/", f"{data}/").replace("b/", f"{other}/") + "; touch /tmp/x"
    box = ["unshare", "--mount", "sh", str(BOX), str(data), str(other), "--", "sh", "-ec", script]
    done = subprocess.run(box, check=True, capture_output=True, text=True)

    assert done.stdout == "no\nno\n"
    assert (data / "x").exists()


def test_unknown_user_gets_one_sentence_and_no_spark(monkeypatch, capfd):
    """Check the message and the exit status for a user id that passwd does not know."""

    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)

    assert entrypoint.main(["driver", "local:///x.py"]) == 2
    assert capfd.readouterr().err.startswith("lineward: the user of this process has no entry")


def test_passwd_file_for_an_unknown_user_is_written(monkeypatch, tmp_path, capfd):
    """Check the init container's command: the file is the image's, with one more entry."""
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    monkeypatch.setattr(os, "getgid", lambda: 0)

    assert entrypoint.main(["passwd", str(tmp_path / "passwd")]) == 0
    assert entrypoint.main(["passwd"]) == 0

    text = (tmp_path / "passwd").read_text()
    assert capfd.readouterr().out == text
    lines = text.splitlines()
    assert lines[-1] == "lineward:x:54321:0::/tmp:/usr/sbin/nologin"
    assert set(lines[:-1]) <= set(Path("/etc/passwd").read_text().splitlines())
