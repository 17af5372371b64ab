import pytest

from lineage.errors import InvalidRequestError, RequestError
from lineage.policy import DEFAULT, parse_policy
from service.runtime.settings import Settings
from service.runtime.startup_checks import require_guarded_service, require_java
from tests.service.commandline import lineward

_ACCESS = "access: {tokens: [{name: a, sha256: '%s', roles: [admin]}]}" % ("0" * 64)
_ALL = "0.0.0.0"  # noqa: S104 - what is rejected
_OTHERS = (_ALL, "::", "192.0.2.7", "lineward.example")


@pytest.fixture
def token(tmp_path):
    file = tmp_path / "token"
    file.write_text("secret")
    return file


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_token(host):
    require_guarded_service(Settings(host=host), DEFAULT)


@pytest.mark.parametrize("host", _OTHERS)
def test_other_machines_need_tokens(host):
    """Reject an open address, unless both ports have tokens."""
    with pytest.raises(InvalidRequestError, match=r"`access` section .* LINEWARD_COLLECTOR_TOKEN"):
        require_guarded_service(Settings(host=host), parse_policy("owners: []"))


def test_the_missing_token_is_named(token):
    with pytest.raises(InvalidRequestError, match="set LINEWARD_COLLECTOR_TOKEN_FILE "):
        require_guarded_service(Settings(host="::"), parse_policy(_ACCESS))
    with pytest.raises(InvalidRequestError, match="set an `access` section in the policy "):
        require_guarded_service(Settings(host="::", collector_token_file=token), DEFAULT)


@pytest.mark.parametrize("host", _OTHERS)
def test_tokens_or_an_explicit_choice_open_the_address(host, token):
    require_guarded_service(Settings(host=host, collector_token_file=token), parse_policy(_ACCESS))
    require_guarded_service(Settings(host=host, insecure=True), DEFAULT)


@pytest.mark.parametrize(("command", "code"), [("up", 2), ("collector", 2), ("service", 2)])
def test_no_command_listens_to_other_machines_without_tokens(tmp_path, command, code):
    data = {"LINEWARD_DATA_DIR": str(tmp_path / "data"), "LINEWARD_HOST": _ALL}
    ports = {f"LINEWARD_{name}_PORT": "0" for name in ("COLLECTOR", "SERVICE", "METRICS")}

    done = lineward(command, **data, **ports)

    assert done.returncode == code
    text = done.stdout + done.stderr
    assert "from other machines without a token" in text
    assert "LINEWARD_INSECURE=true" in text
    assert not (tmp_path / "data").exists()


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

    with pytest.raises(RequestError, match=f"{program} is Java {version}: install Java 17"):
        require_java()


@pytest.mark.parametrize(
    ("variables", "where"),
    [({"PATH": "/nowhere"}, "on PATH"), ({"JAVA_HOME": "/nowhere"}, "in JAVA_HOME (/nowhere)")],
)
def test_up_does_not_start_without_java(tmp_path, variables, where):
    done = lineward("up", "--data-dir", str(tmp_path / "data"), **variables)

    assert done.returncode == 1
    assert done.stderr == (
        f"lineward: Java was not found {where}: install Java 17 or newer, or set JAVA_HOME to it:"
        " Spark needs it\n"
    )
    assert not (tmp_path / "data").exists()
