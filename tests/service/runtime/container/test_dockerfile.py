"""Dockerfile and the files that it copies; the image itself cannot be built here."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib import util
from pathlib import Path

import pytest

from tests.service.runtime.container.image import (
    ROOT,
    context_files,
    entrypoint,
    install_steps,
    instructions,
    values,
)

LISTENER = re.compile(r"([0-9a-f]{64})  openlineage-spark_(2\.1[23])-([0-9.]+)\.jar")


def test_image_is_built_of_what_is_pinned_and_runs_as_a_numbered_user():
    """Check base, user and entrypoint: Kubernetes cannot verify that a named user is not root."""
    [base] = values("ARG")

    assert re.fullmatch(r"PYTHON_IMAGE=python:3\.11\.\d+-slim-bookworm@sha256:[0-9a-f]{64}", base)
    assert {one.split()[0] for one in values("FROM")} == {"${PYTHON_IMAGE}", "base"}
    last = max(index for index, (name, _) in enumerate(instructions()) if name == "FROM")
    assert ("USER", "10001:10001") in instructions()[last:]
    assert entrypoint()[:1] == ["/usr/bin/tini"]
    assert entrypoint()[-2:] == ["-m", "service.runtime.container"]
    assert util.find_spec("service.runtime.container.__main__")


def test_image_has_no_service_of_a_registry_in_it():
    """Check that packages come from where pip and apt look by default, and no file is fetched."""
    text = (ROOT / "Dockerfile").read_text() + (ROOT / "helm/image/install.sh").read_text()

    assert re.findall(r"https?://|curl|wget|--index-url|\bADD ", text) == []


def test_each_folder_that_the_wheel_holds_reaches_the_build():
    """Check .dockerignore against the packages of the wheel, and that tests stay out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    files = context_files()

    assert {file.split("/")[0] for file in files} == {
        *packages,
        *("LICENSE", "README.md", "pyproject.toml", "requirements", "scripts", "helm"),
    }
    sources = [word for one in values("COPY") if "--from" not in one for word in one.split()[:-1]]
    assert [
        one
        for one in sources
        if one != "." and not any(file == one or file.startswith(f"{one}/") for file in files)
    ] == []


def test_each_step_of_the_install_script_is_run_once():
    """Check the order of steps: each one needs what those before it have installed."""
    assert [word for one in install_steps() for word in one[1:]] == [
        *("tools", "packages", "product", "listener", "bom")
    ]


def test_unknown_step_of_the_install_script_ends_the_build():
    """Check that a misspelled step cannot leave an empty image behind."""
    command = [ROOT / "helm/image/install.sh", "lisener"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (2, "install.sh: no step lisener\n")


def test_hashes_are_those_of_the_documented_listener():
    """Check that a new version of the listener brings its own hashes, for both Scala versions."""
    from service.ingest.spark.spark_conf import LISTENER_VERSION  # noqa: PLC0415 - beside what it is compared with

    lines = (ROOT / "helm/image/listener.sha256").read_text().splitlines()
    found = [LISTENER.fullmatch(line) for line in lines]

    assert [(one[2], one[3]) for one in found if one] == [
        ("2.12", LISTENER_VERSION),
        ("2.13", LISTENER_VERSION),
    ]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("useradd"), reason="useradd needs root")
def test_user_of_the_image_has_a_home_that_java_can_write_to(tmp_path: Path):
    """Run the Dockerfile's own useradd: Java's user.home is that of passwd, whatever HOME is."""
    for name in ("passwd", "group", "shadow", "gshadow", "login.defs"):
        (tmp_path / "etc").mkdir(exist_ok=True)
        (tmp_path / "etc" / name).write_bytes(Path("/etc", name).read_bytes())
    [useradd] = [run.split(" && ")[0] for run in values("RUN") if run.startswith("useradd")]
    subprocess.run([*useradd.split(), "--prefix", tmp_path], check=True, capture_output=True)

    added = (tmp_path / "etc/passwd").read_text().splitlines()[-1]
    assert added == "lineward:x:10001:10001::/tmp:/usr/sbin/nologin"
