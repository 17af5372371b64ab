"""Role `kubernetes`: its start by `lineward up`, and invalid settings."""

import pytest

from lineage.process.environment import InvalidSettingError
from runbooks.actions.kubernetes_settings import KubernetesSettings, read_for_watch
from service.ingest.kubernetes.__main__ import main
from service.runtime.roles import role_commands
from service.runtime.settings import Settings


def test_up_runs_it_where_namespaces_are_named():
    """Run no fourth role by default."""
    with_it, without = Settings(kubernetes_namespaces="jobs"), Settings()
    beside = {one.role for one in role_commands(with_it)} - {
        one.role for one in role_commands(without)
    }

    assert beside == {"kubernetes"}


def test_settings_that_cannot_be_used_end_the_role(monkeypatch):
    """Name the variable; return 2."""
    monkeypatch.setenv("LINEWARD_KUBERNETES_URL", "https://kubernetes.default.svc")
    assert main() == 2
    with pytest.raises(InvalidSettingError, match="LINEWARD_KUBERNETES_NAMESPACES: not set"):
        read_for_watch()

    monkeypatch.setenv("LINEWARD_KUBERNETES_NAMESPACES", "jobs, ../secrets")
    with pytest.raises(InvalidSettingError, match=r"'../secrets' is no name of a namespace"):
        read_for_watch()


def test_namespaces_are_watched_once_each():
    """Read a list with blanks and repetitions."""
    assert KubernetesSettings(namespaces="jobs, etl,jobs,").watched_namespaces == ("jobs", "etl")
