"""Start of a service with a policy whose section `access` was lost."""

import msgspec
import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import text

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.catalog.policy_notes import PolicyNotes, StoredAccess
from lineage.policy import PolicyError, PolicyFile
from service.api.access.guard import Guard
from service.api.app import create_app
from service.errors import RejectedInputError
from service.exporter.metrics import CatalogCollector
from service.queries.status import load_status
from service.runtime.policies import PolicyInForce, read_accepted_policy
from tests.service.api.access.estate import NOW, POLICY, Estate
from tests.service.commandline import lineward

pytestmark = pytest.mark.postgres_nightly

CUT = ["retention_days: 30\n", "{}\n", "owners: []\n"]
GONE = (
    "lineward.yaml: the section access is gone: restore it (`access: off` opens the API to"
    " everybody)"
)
_QUERY = "/api/v1/lineage?dataset=core/orders"


class Restarted:
    """New process of the service over the catalog and the policy file of an estate."""

    def __init__(self, estate: Estate, stored: StoredAccess | None = None) -> None:
        self.settings = estate.settings
        if stored is None:
            stored = StoredAccess(estate.settings.catalog)
            stored.look()
        self.policy = PolicyInForce(estate.policy, settle_seconds=0, access_before=stored)
        self.guard = Guard(self.settings, lambda: estate.now, self.policy)
        app = create_app(self.settings, clock=lambda: estate.now, guard=self.guard)
        self.client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def get(self, path):
        """Ask without a token."""
        return self.client.get(path).status_code


@pytest.fixture
def estate(catalog, tmp_path):
    """Return a guarded service that ran for a second without a request."""
    estate = Estate(catalog, tmp_path)
    estate.judge()
    return estate


@pytest.mark.parametrize("cut", CUT)
def test_a_service_that_starts_without_the_section_admits_nobody(estate, cut):
    """Answer 503 with the same error as after a change of the file, and keep the stored version."""
    stored = estate.rows("SELECT * FROM access_version")
    estate.write_policy(cut)
    service = Restarted(estate)

    assert [service.get(path) for path in (_QUERY, "/", "/readyz")] == [503] * 3
    assert service.get("/livez") == 200
    assert (service.policy.standing().hash, service.policy.standing().error) == (None, GONE)
    service.guard.count(estate.catalog)
    assert estate.rows("SELECT * FROM access_version") == stored


def test_the_rejected_policy_is_shown(estate):
    """Show it by the metric and by `lineward status`."""
    estate.write_policy(CUT[0])
    service = Restarted(estate)
    PolicyNotes("service", service.policy.standing)(estate.catalog)
    registry = CollectorRegistry()
    registry.register(CatalogCollector(service.settings, lambda: estate.now, service.policy))

    metrics = generate_latest(registry).decode()

    assert 'lineage_policy_rejected{role="service"} 1.0' in metrics
    assert 'lineage_policy_in_force{role="service"} 0.0' in metrics
    assert [one.error for one in load_status(service.settings, NOW).policies] == [GONE]


def test_access_off_opens_the_service_and_is_stored(estate):
    """Accept a policy without the section once `access: off` is stored."""
    estate.write_policy(CUT[0])
    service = Restarted(estate)
    assert service.get(_QUERY) == 503

    estate.write_policy("access: off\n")
    assert service.get(_QUERY) == 200
    service.guard.count(estate.catalog)
    assert [row[0] for row in estate.rows("SELECT hash FROM access_version")][-1] == "off"
    estate.write_policy(CUT[0])
    assert (service.get(_QUERY), Restarted(estate).get(_QUERY)) == (200, 200)


def test_the_section_brings_the_service_back(estate):
    """Apply a corrected file without a restart."""
    estate.write_policy(CUT[0])
    service = Restarted(estate)
    assert service.get(_QUERY) == 503
    estate.write_policy(POLICY)

    assert service.get(_QUERY) == 401


def test_a_first_start_without_the_section_is_open(catalog, tmp_path):
    """Open the API: no version is stored, so none was lost."""
    estate = Estate(catalog, tmp_path)
    estate.write_policy(CUT[0])

    assert Restarted(estate).get(_QUERY) == 200


def test_nobody_is_admitted_while_the_stored_access_is_unknown(estate):
    """Answer 503 until the catalog can be read, and then by its stored version."""
    estate.write_policy(CUT[0])
    stored = StoredAccess(estate.settings.catalog)
    service = Restarted(estate, stored)

    rejected = service.client.get(_QUERY)
    assert rejected.status_code == 503
    assert "access control is unknown" in rejected.text
    stored.look()
    assert service.policy.standing().error == GONE
    assert service.get(_QUERY) == 503


@pytest.mark.postgres_always
def test_a_catalog_that_is_restored_after_the_start_closes_the_service(estate):
    """Close the service when the tables with a stored version return."""
    estate.write_policy(CUT[0])
    with estate.catalog.begin() as connection:
        connection.execute(text("ALTER TABLE access_version RENAME TO away"))
    stored = StoredAccess(estate.settings.catalog)
    stored.look()
    service = Restarted(estate, stored)
    assert stored() is False
    service.get(_QUERY)
    with estate.catalog.begin() as connection:
        connection.execute(text("ALTER TABLE away RENAME TO access_version"))

    service.guard.count(estate.catalog)
    stored.look()

    assert service.get(_QUERY) == 503
    assert stored() is True


def test_every_other_reader_rejects_the_policy(estate):
    """Reject it in the pipeline and in commands, with a file and without one."""
    estate.write_policy(CUT[0])
    with pytest.raises(RejectedInputError, match="the section access is gone"):
        read_accepted_policy(estate.settings)
    before = StoredAccess(estate.settings.catalog)
    before.look()
    with pytest.raises(PolicyError) as caught:
        PolicyFile(estate.policy, access_before=before)
    assert str(caught.value) == GONE
    with pytest.raises(PolicyError, match="LINEWARD_POLICY is not set, and the policy in force"):
        PolicyFile(None, access_before=before)


def test_up_does_not_start_with_the_cut_policy(tmp_path):
    """Print one sentence, and listen on no port."""
    file = tmp_path / "lineward.yaml"
    file.write_text(CUT[0])
    folder = _guarded_folder(tmp_path)

    done = lineward("up", LINEWARD_POLICY=str(file), LINEWARD_DATA_DIR=str(folder))

    assert (done.returncode, done.stderr.strip()) == (6, f"lineward: {GONE}")


def _guarded_folder(tmp_path):
    """Return a data folder whose catalog has stored a version with tokens."""
    folder = tmp_path / "data"
    folder.mkdir()
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO access_version VALUES (1, 'abcd', '[]')"))
    engine.dispose()
    return folder


def test_a_shell_without_a_policy_gets_the_name_of_the_variable(estate):
    """Name the variable, and no way to open the API: the shell lacks the file, not a section."""
    estate.write_policy(CUT[0])
    settings = msgspec.structs.replace(estate.settings, policy=None)

    with pytest.raises(RejectedInputError) as caught:
        read_accepted_policy(settings)

    assert str(caught.value) == (
        "LINEWARD_POLICY is not set, and the policy in force before had the section access: set"
        " LINEWARD_POLICY to the policy file"
    )
