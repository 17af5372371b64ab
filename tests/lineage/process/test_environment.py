"""Settings from the environment; a process does not start with invalid ones."""

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from lineage.process import environment
from lineage.process.environment import InvalidSettingError, read
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.runtime.settings import Settings


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


def test_an_empty_path_is_rejected():
    """Reject a path without a text, which would be the working folder."""
    with pytest.raises(InvalidSettingError, match=r"^LINEWARD_FOLDER: the path is empty"):
        read(Sample, environ={"LINEWARD_FOLDER": ""})


def test_an_unknown_variable_of_a_section_is_rejected():
    """Reject a misspelt limit: otherwise the default would apply silently."""
    with pytest.raises(InvalidSettingError, match="LINEWARD_X_PROT: no such setting"):
        read(Sample, section="X_", environ={"LINEWARD_X_PROT": "1"})


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
