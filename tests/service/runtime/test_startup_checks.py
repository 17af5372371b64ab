import pytest

from lineage.errors import InvalidRequestError, RequestError
from lineage.policy import DEFAULT, parse_policy
from lineage.process.environment import InvalidSettingError
from service.runtime.settings import Settings, read_settings
from service.runtime.startup_checks import (
    require_guarded_service,
    require_java,
    require_role_settings,
)
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


@pytest.mark.parametrize(
    "variables",
    [
        {"LINEWARD_COLLECTOR_PROT": "8800"},
        {"LINEWARD_COLLECTOR_TOKEN_FILE": "/nowhere/token"},
        {"LINEWARD_PIPELINE_MAX_ROWS": "25,000"},
        {"LINEWARD_HEALTH_PORT": "0"},
        {"LINEWARD_ALERTS_MODE": "slack"},
        {"LINEWARD_DELIVERY_FALLBACK": "C0123"},
        {"LINEWARD_MARQUEZ_PULL_SECOND": "1"},
        {"LINEWARD_LOG_CONFIG_FILE": "/nowhere/log", "LINEWARD_LOG": "kafka://h:1/t"},
        {"LINEWARD_KAFKA_CONFIG_FILE": "/nowhere/kafka", "LINEWARD_KAFKA_BOOTSTRAP": "h:1"},
        {"LINEWARD_KUBERNETES_URL": "http://h", "LINEWARD_KUBERNETES_NAMESPACES": "jobs"},
        {"LINEWARD_KAFKA_BOOTSTRAPS": "h:1"},
        {"LINEWARD_KUBERNETES_TIMEOUT_SECONDS": "0"},
    ],
    ids=lambda one: next(iter(one)),
)
def test_the_settings_of_each_role_are_read_before_it_starts(variables, monkeypatch):
    """Name the variable: a role with an invalid setting would be restarted without end.

    Mutants: without the settings of any one role; without the token file; the Kafka settings only
    with a broker, those of Kubernetes only with namespaces to watch.
    """
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(InvalidSettingError, match=next(iter(variables))):
        require_role_settings(read_settings())


def test_the_service_does_not_start_with_a_setting_that_fails_its_actions(tmp_path):
    """Reject settings of the Kubernetes API that only actions read.

    Mutant: without `read_kubernetes_settings` in the service.
    """
    data = {"LINEWARD_DATA_DIR": str(tmp_path / "data")}
    ports = {f"LINEWARD_{name}_PORT": "0" for name in ("SERVICE", "METRICS")}
    done = lineward("service", **data, **ports, LINEWARD_KUBERNETES_URL="http://h")

    assert done.returncode == 2
    assert "LINEWARD_KUBERNETES_URL: expected https://HOST" in done.stdout + done.stderr


def test_up_does_not_start_with_an_invalid_setting_of_a_role(tmp_path):
    """End with the reason, before any role or folder exists.

    Mutant: `lineward up` without `require_role_settings`.
    """
    done = lineward("up", "--data-dir", str(tmp_path / "data"), LINEWARD_COLLECTOR_PROT="8800")

    assert (done.returncode, done.stderr) == (
        2,
        (
            "lineward: LINEWARD_COLLECTOR_PROT: no such setting;"
            " did you mean LINEWARD_COLLECTOR_PORT?\n"
        ),
    )
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
