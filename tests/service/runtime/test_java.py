import pytest

from service.errors import RejectedInputError
from service.runtime.java import require_java
from tests.service.commandline import lineward


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Install a Java in JAVA_HOME that prints this version."""

    def install(says):
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        return program

    return install


@pytest.mark.parametrize("says", ['openjdk version "17.0.9"', 'java version "21"', "a strange one"])
def test_a_java_that_spark_supports_is_accepted(java, says):
    java(says)
    require_java()


@pytest.mark.parametrize(
    ("says", "version"),
    [('openjdk version "11.0.2" 2019', 11), ('java version "1.8.0_292"', 8), ('version "16"', 16)],
)
def test_a_java_that_is_too_old_is_named(java, says, version):
    program = java(says)

    with pytest.raises(RejectedInputError, match=f"{program} is Java {version}: install Java 17"):
        require_java()


@pytest.mark.parametrize(
    ("variables", "where"),
    [({"PATH": "/nowhere"}, "on PATH"), ({"JAVA_HOME": "/nowhere"}, "in JAVA_HOME (/nowhere)")],
)
def test_up_does_not_start_without_java(tmp_path, variables, where):
    done = lineward("up", "--data-dir", str(tmp_path / "data"), **variables)

    assert done.returncode == 6
    assert done.stderr == (
        f"lineward: Java was not found {where}: install Java 17 or newer, or set JAVA_HOME to it:"
        " Spark needs it\n"
    )
    assert not (tmp_path / "data").exists()
