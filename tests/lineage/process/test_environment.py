"""Settings from the environment; a process does not start with invalid ones."""

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from alerts.notify.settings import DeliverySettings, Variables
from collector.settings import CollectorLocation, Limits
from lineage.input_log.settings import Log, LogSettings
from lineage.lake.settings import LakeSettings
from lineage.process import environment
from lineage.process.environment import InvalidSettingError, read
from lineage.process.health_port import HealthPort
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.cli.commands.operator_name import OperatorSettings
from service.ingest.kafka.settings import KafkaSettings
from service.ingest.marquez.settings import MarquezSettings
from service.runtime.settings import Settings
from slis.settings import PipelineSettings, SharedPaths


class Sample(msgspec.Struct, frozen=True):
    """Settings that a role might read."""

    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8700
    folder: Path = Path("data")


def test_a_missing_setting_has_its_default():
    """Start without any configuration."""
    assert read(Sample, environ={}) == Sample(port=8700, folder=Path("data"))


def test_text_becomes_the_field_s_type():
    """Convert the text of the environment."""
    given = {"LINEWARD_PORT": "1", "LINEWARD_FOLDER": "/x"}

    assert read(Sample, environ=given) == Sample(port=1, folder=Path("/x"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("eighty", "a number"), ("", "a number"), ("-1", "0 to 65535"), ("70000", "0 to 65535")],
)
def test_a_wrong_value_is_rejected_by_the_variable_s_name(value: str, expected: str):
    """Name the line of the unit file to fix, and what to write there."""
    with pytest.raises(InvalidSettingError) as raised:
        read(Sample, environ={"LINEWARD_PORT": value})
    assert str(raised.value) == f"LINEWARD_PORT: expected {expected}, got {value!r}"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("LINEWARD_COLLECTOR_URL", "collector:8700", "http://HOST:PORT without a path"),
        ("LINEWARD_INSECURE", "yes", "true or false"),
    ],
)
def test_a_setting_without_a_range_has_words_of_its_own(name, value, expected):
    """Say what to write; msgspec would print a regular expression, or names of Python's types."""
    with pytest.raises(InvalidSettingError) as raised:
        read(Settings, environ={name: value})
    assert str(raised.value) == f"{name}: expected {expected}, got {value!r}"


_ALL_SETTINGS = (
    *(CollectorLocation, Limits, DeliverySettings, HealthPort, KafkaSettings, KubernetesSettings),
    *(LakeSettings, Log, LogSettings, MarquezSettings, OperatorSettings, PipelineSettings),
    *(Settings, SharedPaths, Variables),
)


@pytest.mark.parametrize("struct", _ALL_SETTINGS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("value", ["", "no such value", "-1"])
def test_no_setting_answers_in_the_words_of_the_library(struct: type[msgspec.Struct], value: str):
    """Try values on each setting of each role: no error has a regular expression or a type.

    Mutant: a pattern without a description.
    """
    fields = msgspec.structs.fields(struct)
    names = [one.name for one in fields if not isinstance(one.default, msgspec.Struct)]
    messages = [_read_error(struct, f"LINEWARD_{name.upper()}", value) for name in names]

    assert [text for text in messages if "`" in text or "regex" in text] == []


def _read_error(struct: type[msgspec.Struct], name: str, value: str) -> str:
    """Return the error of a setting; an empty text if the value is valid."""
    try:
        read(struct, environ={name: value})
    except InvalidSettingError as error:
        return str(error)
    return ""


def test_the_memory_of_spark_may_have_a_capital_letter():
    """Accept what Spark accepts."""
    given = {"LINEWARD_PIPELINE_DRIVER_MEMORY": "2G"}

    assert read(PipelineSettings, section="PIPELINE_", environ=given).driver_memory == "2G"
    with pytest.raises(InvalidSettingError, match="expected a number with m or g, such as 2g"):
        read(PipelineSettings, section="PIPELINE_", environ={next(iter(given)): "2"})


def test_an_empty_path_is_rejected():
    """Reject a path without a text, which would be the working folder."""
    with pytest.raises(InvalidSettingError, match=r"^LINEWARD_FOLDER: the path is empty"):
        read(Sample, environ={"LINEWARD_FOLDER": ""})


def test_an_unknown_variable_of_a_section_is_rejected():
    """Reject a misspelt limit: otherwise the default would apply silently."""
    with pytest.raises(InvalidSettingError) as raised:
        read(Sample, section="X_", environ={"LINEWARD_X_PROT": "1"})
    assert str(raised.value) == "LINEWARD_X_PROT: no such setting; did you mean LINEWARD_X_PORT?"


def test_variables_of_a_kubernetes_service_are_ignored():
    """Ignore what Kubernetes sets in a pod for a Service `lineward-x`, and nothing else.

    Mutants: without `_service_links`; every name with `_PORT` is ignored.
    """
    service = {
        "LINEWARD_X_A_SERVICE_HOST": "10.0.0.1",
        "LINEWARD_X_A_SERVICE_PORT": "9092",
        "LINEWARD_X_A_SERVICE_PORT_TLS": "9092",
        "LINEWARD_X_A_PORT": "tcp://10.0.0.1:9092",
        "LINEWARD_X_A_PORT_9092_TCP_ADDR": "10.0.0.1",
    }

    assert read(Sample, section="X_", environ=service) == Sample()
    with pytest.raises(InvalidSettingError, match="LINEWARD_X_B_PORT: no such setting"):
        read(Sample, section="X_", environ={**service, "LINEWARD_X_B_PORT": "9092"})


def test_the_known_names_include_shared_variables():
    """List all names of the section if none is similar.

    Mutant: without `shared`, the port of the collector is not among the names.
    """
    with pytest.raises(InvalidSettingError) as raised:
        read(Sample, section="X_", environ={"LINEWARD_X_A": "1"}, shared=["LINEWARD_X_URL"])
    known = "LINEWARD_X_FOLDER, LINEWARD_X_PORT, LINEWARD_X_URL"
    assert str(raised.value) == f"LINEWARD_X_A: no such setting; known are {known}"
    assert read(Sample, section="X_", environ={"LINEWARD_X_URL": "u"}, shared=["LINEWARD_X_URL"])


def test_the_old_name_of_a_setting_counts_and_warns(monkeypatch):
    """Take the value of the old name, unless the new one is set too."""
    monkeypatch.setitem(environment.OLD_NAMES, "LINEWARD_DOOR", "LINEWARD_PORT")

    with pytest.warns(FutureWarning, match="LINEWARD_DOOR is an old name: set LINEWARD_PORT"):
        assert read(Sample, environ={"LINEWARD_DOOR": "1"}).port == 1
    with pytest.warns(FutureWarning):
        assert read(Sample, environ={"LINEWARD_DOOR": "1", "LINEWARD_PORT": "2"}).port == 2


def test_the_file_of_the_secret_has_its_old_name():
    """Start own senders of the release before with their settings."""
    with pytest.warns(FutureWarning, match="LINEWARD_SENDER_SECRET_FILE"):
        found = read(Settings, environ={"LINEWARD_READER_SECRET_FILE": "/x"})
    assert found.sender_secret_file == Path("/x")


def test_a_removed_setting_is_ignored_and_warns():
    """Start with the settings of the release before, which set the variable."""
    name = "LINEWARD_KUBERNETES_LISTENER_CONFIG_MAPS"
    with pytest.warns(FutureWarning, match=f"{name} has no effect"):
        found = read(KubernetesSettings, section="KUBERNETES_", environ={name: "lineward-spark"})
    assert found == KubernetesSettings()
