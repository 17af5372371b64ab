"""The policy's file while others edit it."""

import pytest

from lineage.policy import DEFAULT, PolicyError, PolicyFile, load


def test_a_wrong_file_never_replaces_the_good_one(tmp_path):
    """The old policy stays in force, the error can be shown, and a mended file is taken."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = PolicyFile(path)

    path.write_text("retention_days: never")
    assert (file.current().retention_days, file.error) == (
        7,
        "lineward.yaml:1: $.retention_days: expected int, got str: 'never'",
    )
    path.write_text("retention_days: 30")
    assert (file.current().retention_days, file.error) == (30, None)
    path.unlink()
    assert file.current().retention_days == 30
    assert "cannot be read" in file.error


def test_a_wrong_file_at_the_start_is_refused(tmp_path):
    """There is no older one to keep: better no start than the wrong alerts."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")

    with pytest.raises(PolicyError, match=r"lineward.yaml:1: \$.tiers: unknown key"):
        PolicyFile(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load(tmp_path / "absent.yaml")
    assert PolicyFile(None).current() is DEFAULT
