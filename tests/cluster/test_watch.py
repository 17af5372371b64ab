"""Run the kubernetes role on a real API server that restarts, forgets and revokes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.catalog.meta_keys import APPLICATIONS
from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.jobs import PATH, are_served, create_job, list_jobs, set_state
from tests.cluster.releases import Release
from tests.helm.charts import Manifest
from tests.suite.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]

_WATCH_SECONDS = 3


class Role:
    """Process of the kubernetes role, with the token and the CA that its pod would have."""

    def __init__(self, api: Api, release: Release, folder: Path) -> None:
        self.token = folder / "token"
        self.renew_token(api, release)
        settings = {
            "LINEWARD_DATA_DIR": str(folder),
            "LINEWARD_KUBERNETES_URL": api.url,
            "LINEWARD_KUBERNETES_CA_FILE": str(api.ca),
            "LINEWARD_KUBERNETES_TOKEN_FILE": str(self.token),
            "LINEWARD_KUBERNETES_NAMESPACES": "jobs",
            "LINEWARD_KUBERNETES_WATCH_SECONDS": str(_WATCH_SECONDS),
            "LINEWARD_KUBERNETES_PAGE_OBJECTS": "2",
        }
        self._log = folder / "role.log"
        command = [sys.executable, "-m", "service.ingest.kubernetes"]
        with self._log.open("w") as log:
            given = {"stdout": log, "stderr": log, "env": os.environ | settings}
            self.process = subprocess.Popen(command, **given)  # type: ignore[call-overload]
        self._engine: Engine = open_catalog(catalog_url(folder))

    def renew_token(self, api: Api, release: Release) -> None:
        """Write a token of the release's ServiceAccount, as the kubelet does."""
        self.token.write_text(api.issue_token(release.namespace, "lineward"))

    def log(self) -> str:
        """Return what the role has written."""
        return self._log.read_text()

    def existing(self) -> dict[str, str]:
        """Return the state of each application that exists, by its name."""
        table = tables.spark_application
        query = select(table.c.name, table.c.state).where(table.c.deleted_at.is_(None))
        return {str(name): str(state) for name, state in self._rows(query)}

    def problem(self) -> str | None:
        """Return why the watch of applications does not work."""
        table = tables.kubernetes_watch
        query = select(table.c.problem).where(table.c.resource == APPLICATIONS)
        return next((row[0] for row in self._rows(query)), None)

    def stop(self) -> None:
        """End it as Kubernetes does."""
        self.process.terminate()
        self.process.wait(60)
        self._engine.dispose()

    def _rows(self, query: Any) -> list[Any]:  # noqa: ANN401 - a query, and its rows
        with self._engine.connect() as connection:
            return list(connection.execute(query))


@pytest.fixture
def role(api, acting_release, tmp_path, empty_catalog) -> Iterator[Role]:
    """Run the role; return once it watches."""
    (tmp_path / "catalog.db").write_bytes(empty_catalog.read_bytes())
    made = [Role(api, acting_release, tmp_path)]
    try:
        until(lambda: "kubernetes_watching" in made[0].log(), describe=made[0].log)
        yield made[0]
    finally:
        made[0].stop()


@pytest.fixture
def submit(api) -> Iterator[Callable[[str], Manifest]]:
    """Return a function that creates a running application; all are deleted in the end."""
    made: dict[str, Manifest] = {}

    def create(name: str) -> Manifest:
        made[name] = create_job(api, name, "RUNNING")
        return made[name]

    yield create
    for name in list_jobs(api) & set(made):
        api.delete(made[name])


def _sees(role: Role, **states: str) -> None:
    until(
        lambda: role.existing() == states, describe=lambda: (role.existing(), role.log()[-2_000:])
    )


def test_applications_are_listed_and_watched(api, role, submit):
    """Create three, which are two pages; change one and delete one."""
    for name in ("orders", "rates", "churn"):
        submit(name)
    _sees(role, orders="RUNNING", rates="RUNNING", churn="RUNNING")

    set_state(api, "orders", "COMPLETED")
    api.ask("DELETE", f"{PATH}/rates")

    _sees(role, orders="COMPLETED", churn="RUNNING")
    assert role.problem() is None


@pytest.fixture
def restart(api, control_plane) -> Callable[[], None]:
    """Return a function that kills the API server, has etcd forget old versions, and starts it."""

    def kill_and_start() -> None:
        control_plane.kill_server()
        control_plane.compact()
        control_plane.start_server()
        until(lambda: are_served(api))

    return kill_and_start


def test_the_watch_goes_on_after_an_outage_of_the_api_server(
    api, control_plane: ControlPlane, role, submit
):
    """Kill the server until the watch reports it; what is created after its start is seen."""
    submit("orders")
    _sees(role, orders="RUNNING")
    control_plane.kill_server()
    try:
        until(role.problem, describe=role.log)
        problem = str(role.problem())
    finally:
        control_plane.start_server()
    until(lambda: are_served(api))
    submit("rates")

    _sees(role, orders="RUNNING", rates="RUNNING")

    assert f"Kubernetes does not answer for {APPLICATIONS} in namespace jobs: " in problem
    until(lambda: role.problem() is None)


def test_versions_that_the_server_forgot_lead_to_a_new_list(api, role, submit, restart):
    """Pause the role; the server that it was connected to is gone before anything changes."""
    orders = submit("orders")
    _sees(role, orders="RUNNING")
    role.process.send_signal(signal.SIGSTOP)
    try:
        restart()
        api.delete(orders)
        submit("rates")
        restart()
    finally:
        role.process.send_signal(signal.SIGCONT)

    _sees(role, rates="RUNNING")

    assert "kubernetes_watch_expired" in role.log()


def test_a_revoked_role_is_named_until_it_is_granted_again(api, acting_release, role, submit):
    """Delete the RoleBinding of the chart, and create it again."""
    submit("orders")
    _sees(role, orders="RUNNING")
    name = f"lineward-{acting_release.namespace}-source"
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/jobs/rolebindings/{name}"
    binding = api.get(path)
    api.delete(binding)
    try:
        until(role.problem, describe=role.log)
        problem = str(role.problem())
    finally:
        del binding["metadata"]["resourceVersion"]
        api.create(binding)
    submit("rates")

    _sees(role, orders="RUNNING", rates="RUNNING")

    until(lambda: role.problem() is None)
    user = f"system:serviceaccount:{acting_release.namespace}:lineward"
    assert "Kubernetes forbids the ServiceAccount of Lineward to read" in problem
    assert f"{APPLICATIONS} in namespace jobs" in problem
    assert f'User \\"{user}\\" cannot' in problem or f'User "{user}" cannot' in problem


def test_a_token_that_is_not_accepted_is_named_until_it_is_renewed(
    api, acting_release, role, submit
):
    """Replace the token by a wrong one: watches that run end, and the next one is rejected."""
    submit("orders")
    _sees(role, orders="RUNNING")
    role.token.write_text("wrong")
    until(role.problem, describe=role.log)
    problem = role.problem()

    role.renew_token(api, acting_release)
    submit("rates")

    _sees(role, orders="RUNNING", rates="RUNNING")
    until(lambda: role.problem() is None)
    assert problem == "Kubernetes does not accept the token: renew LINEWARD_KUBERNETES_TOKEN_FILE"
