"""M10: each access is judged afresh, by other code than the one that let it in."""

from datetime import timedelta

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.access import access_auditor, audit_log, decision, gate
from service.api.access.access_auditor import DENIED_METRIC, UNAUTHORIZED_METRIC
from service.api.access.judge import READABLE
from service.exporter.metrics import CatalogCollector
from service.queries.visibility import EVERYTHING, Visibility
from tests.service.api.access.estate import HIDDEN

pytestmark = pytest.mark.postgres_nightly

_QUERY = "/api/v1/lineage?dataset=core/orders"


def test_an_allowed_access_is_good_and_a_denied_one_is_in_no_total(estate):
    """Count two allowed accesses as 2 of 2, and two denied ones separately."""
    for who in ("boss", "shop", None, "nobody-0123456789"):
        estate.get(_QUERY, who)

    estate.judge()

    assert estate.m10 == (2.0, 2.0, 0.0)
    assert estate.counts(DENIED_METRIC) == {"no_token": 1.0, "unknown_token": 1.0}


def test_no_access_is_no_sample(estate):
    """Store no row for an empty total, neither 100 % nor 0 %."""
    estate.judge()

    assert estate.m10 is None


def test_each_access_is_judged_once(estate):
    """Add nothing in a second pass, nor after a restart."""
    estate.get(_QUERY)
    estate.judge()
    estate.judge()
    estate.restart()
    estate.judge()

    assert estate.m10 == (1.0, 1.0, 0.0)


def test_without_its_cursor_it_would_judge_twice(estate, monkeypatch):
    """Run the mutant: forget the position."""
    monkeypatch.setattr(access_auditor, "_position", lambda _connection: 0)
    estate.get(_QUERY)
    estate.judge()
    estate.judge()

    assert estate.m10 == (2.0, 2.0, 0.0)


def test_a_gate_that_lets_anybody_in_is_found(estate, monkeypatch):
    """Run the mutant: allow everybody. Count each of these accesses as bad."""

    def everybody(*_arguments: object, **_more: object) -> decision.AccessDecision:
        return decision.AccessDecision("", "clerk", "", EVERYTHING)

    monkeypatch.setattr(gate, "decide", everybody)
    for who in (None, "nobody-0123456789"):
        assert estate.get(_QUERY, who).status_code == 200

    estate.judge()

    assert estate.m10 == (0.0, 2.0, 0.0)
    assert estate.counts(UNAUTHORIZED_METRIC) == {"another_token": 2.0}


def test_a_role_that_the_gate_forgets_is_found(estate, monkeypatch):
    """Count a reader's access to the status as bad."""
    monkeypatch.setitem(decision.NEEDS, "status", "read")
    assert estate.get("/api/v1/status", "clerk").status_code == 200

    estate.judge()

    assert estate.counts(UNAUTHORIZED_METRIC) == {"role": 1.0}
    assert estate.m10 == (0.0, 1.0, 0.0)


def test_gate_and_judge_have_the_same_actions_of_a_reader(estate):
    """Compare both lists, and judge a reader's access to the graph as good."""
    allowed = {action for action, role in decision.NEEDS.items() if role == decision.READ_ROLE}
    assert allowed == set(READABLE)

    assert estate.get("/api/v1/graph/nodes?dataset=core/orders", "shop").status_code == 200
    estate.judge()
    assert estate.m10 == (1.0, 1.0, 0.0)


def test_an_answer_that_shows_too_much_is_found(estate, monkeypatch):
    """Run the mutant: let names through. Count the namespaces that the answer names."""
    monkeypatch.setattr(Visibility, "sees", lambda _visibility, _namespace, _key=None: True)
    estate.get(f"/api/v1/dataset?dataset=payroll/salaries&dataset_namespace={HIDDEN}", "shop")
    estate.judge()

    assert estate.counts(UNAUTHORIZED_METRIC)["namespace"] >= 1.0


@pytest.mark.postgres_always
def test_an_answer_without_an_audit_row_is_bad(estate, monkeypatch):
    """Run the mutant: report an audit row as written without writing it."""
    estate.get(_QUERY)
    with monkeypatch.context() as forgetful:
        forgetful.setattr(audit_log.Recorder, "write", lambda _recorder, _rows: None)
        assert estate.get(_QUERY).status_code == 200

    estate.judge()

    assert estate.m10 == (1.0, 2.0, 0.0)
    assert estate.counts(UNAUTHORIZED_METRIC) == {"unaudited": 1.0}


def test_an_access_by_a_version_that_is_no_longer_in_force_is_bad(estate, monkeypatch):
    """Count accesses that a gate with an old policy allows."""
    estate.get(_QUERY, "shop")
    old = estate.guard._force.current()  # noqa: SLF001 - what such a gate would go by
    estate.now += timedelta(seconds=1)
    estate.write_policy("access: {tokens: []}\n")
    assert estate.get(_QUERY, "shop").status_code == 401
    late = msgspec.structs.replace(old, at=old.at + 5_000_000)
    monkeypatch.setattr(estate.guard._force, "current", lambda: late)  # noqa: SLF001

    assert estate.get(_QUERY, "shop").status_code == 200
    estate.judge(after=timedelta(seconds=10))

    assert estate.m10 == (1.0, 2.0, 0.0)
    assert estate.counts(UNAUTHORIZED_METRIC) == {"another_version": 1.0}


@pytest.mark.postgres_always
def test_a_change_of_policy_makes_no_access_of_before_bad(estate):
    """Judge each access by the version in force at its time, however late."""
    estate.get(_QUERY, "shop")
    estate.now += timedelta(seconds=1)
    estate.write_policy("access: {tokens: []}\n")
    estate.get(_QUERY, "shop")

    estate.judge()

    assert estate.m10 == (1.0, 1.0, 0.0)
    assert len(estate.rows("SELECT * FROM access_version")) == 2


@pytest.mark.postgres_always
def test_access_that_is_turned_off_and_on_again_has_no_false_alarm(estate):
    """Count no access while it was off, and store the version that ended it."""
    estate.get(_QUERY)
    guarded = estate.policy.read_text()
    estate.now += timedelta(seconds=1)
    estate.policy.write_text("access: off\n")
    assert estate.get(_QUERY, None).status_code == 200
    estate.judge()
    estate.policy.write_text(guarded)
    estate.get(_QUERY)

    estate.judge()

    assert estate.m10 == (2.0, 2.0, 0.0)
    hashes = [row[0] for row in estate.rows("SELECT hash FROM access_version ORDER BY 1")]
    assert len(hashes) == 3
    assert hashes[-1] == "off"


def test_accesses_beyond_the_buffer_are_unknown(estate, monkeypatch):
    """Count answers that were dropped in a long outage of the catalog as unknown."""
    monkeypatch.setattr("service.api.access.served_counts._MOST_WAITING", 1)
    for _ in range(3):
        estate.get(_QUERY)

    estate.judge()

    assert estate.m10 == (3.0, 3.0, 2.0)


@pytest.mark.postgres_always
def test_old_rows_and_a_flood_of_denials_are_deleted_once_judged(estate, monkeypatch):
    """Bound the log in time, and in rows of requests without a token."""
    monkeypatch.setattr(access_auditor, "_MOST_DENIED", 2)
    for _ in range(5):
        estate.get(_QUERY, None)
    estate.get(_QUERY)
    estate.judge()
    assert estate.rows("SELECT decision, count(*) FROM access_audit GROUP BY 1 ORDER BY 1") == [
        ("allow", 1),
        ("deny", 2),
    ]

    monkeypatch.setattr(access_auditor, "_LOOK_AFTER", 0)  # as after a flood: not only once an hour
    estate.judge(after=timedelta(days=401))

    assert estate.rows("SELECT * FROM access_audit") == []
    assert estate.counts(DENIED_METRIC) == {"no_token": 5.0}


def test_metrics_count_denials_and_unauthorized_accesses(estate):
    """Show both by reason, and the SLI with the catalog's epoch."""
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.meta), {"name": "catalog_epoch", "value": "e9"})
    estate.get(_QUERY)
    estate.get(_QUERY, None)
    estate.judge()

    registry = CollectorRegistry()
    registry.register(CatalogCollector(estate.settings))
    scraped = generate_latest(registry).decode()

    labels = 'epoch="e9",sli="unauthorized_access",tier="all",tier_origin="default"'
    assert f"lineage_sli_good_total{{{labels}}} 1.0" in scraped
    assert 'lineage_access_denied_total{reason="no_token"} 1.0' in scraped
    assert "lineage_access_unauthorized_total{" not in scraped


@pytest.mark.postgres_always
def test_ids_of_the_audit_log_are_never_reused(estate):
    """Use a new id after pruning: an old one would be behind the position and never be judged."""
    estate.get(_QUERY)
    with write_transaction(estate.catalog) as connection:
        connection.execute(text("DELETE FROM access_audit"))
    estate.get(_QUERY)

    assert estate.rows("SELECT id FROM access_audit") == [(2,)]
