import stat

import pytest

from lineage.process.clock import system_clock
from service.queries.status import load_status
from service.runtime.data_folder import open_to_others, restrict_permissions
from service.runtime.settings import Settings


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path):
    """Return a folder as an earlier release created it."""
    data = tmp_path / "data"
    for name in ("spool.db", "catalog.db", "logs/pipeline.log", "run/status.json"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("")
        (data / name).chmod(0o644)
    (data / "link").symlink_to(tmp_path)
    data.chmod(0o755)
    return data


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o701])
def test_a_folder_that_others_may_enter_is_reported(folder, mode):
    folder.chmod(mode)

    warning = f"other users may read {folder} (mode {mode:04o}): run chmod 700 {folder}"
    assert open_to_others(folder) == warning
    assert load_status(Settings(data_dir=folder), system_clock()).warnings == [warning]


def test_permissions_of_own_files_are_tightened(folder, tmp_path):
    outside = _mode(tmp_path)
    text = list(restrict_permissions(folder))

    assert text == [f"other users could read {folder} (mode 0755): now only its owner can"]
    assert _mode(folder) == 0o700
    found = {_mode(path) for path in folder.rglob("*") if path.is_file()}
    assert found == {0o600}
    assert _mode(tmp_path) == outside
    assert list(restrict_permissions(folder)) == []


def test_a_missing_folder_is_no_warning(tmp_path):
    assert list(restrict_permissions(tmp_path / "data")) == []
    assert open_to_others(tmp_path / "data") is None
