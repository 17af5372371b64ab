"""What an evaluation reads of the catalog is what a fold over the facts would have come to."""

from datetime import UTC, datetime, timedelta

from pyspark.sql.types import StructType

from lineage.policy import Policy
from slis import dataset_policies, estate_rows
from slis.evaluation_input import EvaluationInput, Position
from slis.knowledge import known
from slis.sli_schemas import KNOWN

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOW = Position(as_of=NOON, previous_as_of=None, after_seq=0, last_seq=0)
FACTS = ("write", "read_at", "failed", "started_at")


def test_the_catalog_s_rows_are_known_as_a_fold_has_them(spark, catalog):
    """The catalog has one row a dataset, up to now: nothing is left to fold, and none is lost."""
    estate_rows.fill(catalog, datasets=20, edges=20, now=NOON - timedelta(hours=1))
    dataset_policies.renew(catalog, Policy())
    given = EvaluationInput(spark, catalog, NOW)
    read = given.known()
    facts = read.select("dataset_key", read.as_of.alias("visible_at"), *FACTS)

    folded = known(facts, given.datasets(), given.instants()).collect()

    assert StructType.fromDDL(KNOWN).names == read.columns
    assert sorted(read.collect()) == sorted(folded)
    assert len(folded) == 20
