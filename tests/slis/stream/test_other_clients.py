"""Facts of Flink, Debezium, Kafka Connect and Argo Workflows, landed in one batch."""

import pytest

from alerts.detection.fault_detection import detect_faults
from lineage.policy import parse_policy
from lineage.process.clock import to_micros
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.client_events import (
    KAFKA,
    LAKE,
    POSTGRES,
    argo,
    debezium,
    flink_1,
    flink_2,
    kafka_connect,
)
from tests.slis.stream.spools import rows

pytestmark = pytest.mark.postgres_nightly

_TABLES = ("orders", "customers")
_EDGES = """
    SELECT u.namespace, u.name, d.namespace, d.name, e.job_namespace, e.job_name FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY e.job_name, 2, 4
"""
_WRITES = """
    SELECT d.namespace, d.name, w.written_at, w.job_name, w.is_streaming FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY w.job_name, 2, 3
"""
_STATES = """
    SELECT d.namespace, d.name, s.state, s.reason FROM dataset_state s
    JOIN dataset d ON d.dataset_key = s.dataset_key WHERE s.sli = 'M1' ORDER BY 1, 2
"""
_POLICY = parse_policy(f"sources: ['{POSTGRES}/*', '{KAFKA}/payments*']")


@pytest.fixture
def landed(lander, catalog, at):
    """Land one batch with a run of each client; return its catalog."""
    lander.land(
        *debezium(at, _TABLES),
        *kafka_connect(at),
        *flink_1(at),
        *flink_2(at, "pay-in", ("payments", "payments.in"), [at(8, 1), at(9, 2)]),
        *flink_2(at, "pay-out", ("payments.raw", "payments.out"), [at(8, 3)]),
        *argo(at),
    )
    return catalog


def test_each_client_has_the_edges_of_its_own_job(landed):
    """Store one edge for each table that a connector copies, and none between the others."""
    assert rows(landed, _EDGES) == [
        (KAFKA, "shop.public.orders", KAFKA, "orders.enriched", "flink", "enrich"),
        *(
            (KAFKA, f"shop.public.{table}", LAKE, f"shop.public.{table}", "connect", "lake-sink")
            for table in sorted(_TABLES)
        ),
        (LAKE, "shop.public.orders", LAKE, "mart/extract", "argo", "nightly.extract"),
        (LAKE, "shop.public.orders", LAKE, "mart/publish", "argo", "nightly.publish"),
        (KAFKA, "payments", KAFKA, "payments.in", "flink-jobs", "pay-in"),
        (KAFKA, "payments.raw", KAFKA, "payments.out", "flink-jobs", "pay-out"),
        *(
            (POSTGRES, f"shop.public.{table}", KAFKA, f"shop.public.{table}", "shop", "shop.0")
            for table in sorted(_TABLES)
        ),
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_pairs_of_a_connector_do_not_depend_on_the_order_of_events(lander, catalog, at, order):
    """Remove the edge from another table, which was drawn while the topic's own was unknown."""
    _, orders, customers, topic, *_ = debezium(at, _TABLES)
    for position in order:
        lander.land((customers, topic, orders)[position])

    assert [edge[1::2] for edge in rows(catalog, _EDGES)] == [
        ("shop.public.orders", "shop.public.orders", "shop.0")
    ]
    assert rows(catalog, "SELECT count(*) FROM edge_run") == [(1,)]


def test_running_connectors_and_checkpoints_are_writes(landed, at):
    """Count a checkpoint of Flink 2 for the outputs that its START named, once an hour."""
    assert rows(landed, _WRITES) == [
        (KAFKA, "orders.enriched", to_micros(at(8, 30)), "enrich", True),
        *(
            (LAKE, f"shop.public.{table}", to_micros(at(8)), "lake-sink", False)
            for table in sorted(_TABLES)
        ),
        (LAKE, "mart/extract", to_micros(at(9, 5)), "nightly.extract", False),
        (KAFKA, "payments.in", to_micros(at(8, 1)), "pay-in", True),
        (KAFKA, "payments.in", to_micros(at(9, 2)), "pay-in", True),
        (KAFKA, "payments.out", to_micros(at(8, 3)), "pay-out", True),
        (KAFKA, "shop.public.customers", to_micros(at(7, 21)), "shop.0", False),
        (KAFKA, "shop.public.orders", to_micros(at(7, 20)), "shop.0", False),
    ]


def test_tables_of_the_same_name_in_two_flink_sessions_stay_apart(landed):
    """Leave names of Flink's in-memory catalog out: both statements have a table `sink`."""
    joined = "SELECT name FROM dataset WHERE canonical_key <> dataset_key"
    assert rows(landed, joined) == []
    assert rows(landed, "SELECT rule FROM dataset_alias WHERE rule = 'symlink'") == []


def test_jobs_have_the_details_of_their_clients(landed):
    """Store owner, tags, description, engine and error of each job and run."""
    jobs = """
        SELECT run_id, coalesce(leaf_job_name, root_job_name), integration, error_message FROM run
        WHERE failed_at IS NOT NULL OR integration = 'FLINK' ORDER BY 1
    """
    assert rows(landed, jobs) == [
        ("dbz-1", "shop.0", "DEBEZIUM", "connection reset"),
        ("f1", "enrich", "FLINK", None),
        ("f2-pay-in", "pay-in", "FLINK", None),
        ("f2-pay-out", "pay-out", "FLINK", None),
        ("s-2", "nightly.publish", "ARGO_WORKFLOWS", "exit code 137"),
        ("wf-1", "nightly", "ARGO_WORKFLOWS", None),
    ]
    owners = "SELECT owner FROM ownership WHERE subject = 'job' ORDER BY 1"
    assert rows(landed, owners) == [("cdc-team",), ("extract-team",), ("publish-team",)]
    described = "SELECT subject, text FROM description ORDER BY subject"
    assert rows(landed, described) == [
        ("job", "Changes of the shop"),
        ("job_tags", '[{"key":"env","value":"prod","source":"CONFIG"}]'),
    ]


def test_the_failed_step_and_the_silent_stream_are_incidents(spark, landed, at):
    """Judge all others good; `pay-out` has reported no checkpoint for more than an hour."""
    evaluate(spark, landed, _POLICY, at(9, 30))
    with landed.connect() as connection:
        by_root = detect_faults(connection, to_micros(at(9, 30)), _POLICY, ()).by_root

    assert {(root.kind, each.name, each.owner) for root, each in by_root.items()} == {
        ("failed", "nightly.publish", "publish-team"),
        ("source_stopped", "pay-out", None),
    }

    assert rows(landed, _STATES) == [
        (KAFKA, "orders.enriched", "good", None),
        (KAFKA, "shop.public.customers", "good", None),
        (KAFKA, "shop.public.orders", "good", None),
        (LAKE, "mart/extract", "good", None),
        (LAKE, "mart/publish", "bad", "job_failed"),
        (LAKE, "shop.public.customers", "good", None),
        (LAKE, "shop.public.orders", "good", None),
    ]
